import type { openPhotoUploads } from "../publishing/photos/photo-uploads.ts";
import type { Content } from "../publishing/projects/shared-content.ts";
import type { StorefrontServices } from "../publishing/projects/storefront.routes.ts";

/** Receives and reads the logo of the storefront's form: it is encoded like a photo, and stored in the published content. */
export function logosOf(photos: ReturnType<typeof openPhotoUploads>, open: Content["open"]): StorefrontServices["logos"] {
  return {
    receive: (uploader, body) => photos.receive(uploader, body, "logo"),
    requireStored: photos.requireStored,
    finish: photos.finish,
    async read(hash, size) {
      const file = await open(hash, undefined, size);
      try {
        return await file.readFile();
      } finally {
        await file.close();
      }
    },
  };
}
