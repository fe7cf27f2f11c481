/** The pictures that people may upload (specification 2.7). */
export const pictureTypes: [string, ...string[]] = ["image/jpeg", "image/png", "image/webp", "image/avif"];
export const pictureBytesMax = 10 * 1_048_576;

/** The focus of a photo for which nobody chose one, in percent from the left and the top edge. Most photos show the head in the upper half. */
export const automaticFocus = { x: 50, y: 25 };

/** The content type of a file whose form is found in its bytes. */
export const anyFile = "application/octet-stream";
