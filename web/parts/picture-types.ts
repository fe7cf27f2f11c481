/** The pictures that the service takes, for the browser's choice of files. */
export const pictureTypes = "image/jpeg,image/png,image/webp,image/avif";
