// @ts-check
// A photo as a camera takes it is larger than what may be sent: it is made small here, before it is sent.

import { find } from "./page.js";

const SIDE = 512; // pixels

const input = /** @type {HTMLInputElement} */ (find("#id_photo"));

/** @param {File} file */
async function small(file) {
  const picture = await createImageBitmap(file);
  const scale = Math.min(1, SIDE / Math.max(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  const drawn = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  drawn.fillStyle = "#fff"; // behind what is transparent, which a JPEG cannot be
  drawn.fillRect(0, 0, canvas.width, canvas.height);
  drawn.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  return new Promise((/** @type {(made: Blob | null) => void} */ made) => canvas.toBlob(made, "image/jpeg", 0.9));
}

input.addEventListener("change", async () => {
  const file = input.files?.[0];
  if (!file) return;
  const made = await small(file).catch(() => null);
  if (!made || input.files?.[0] !== file) return; // what this browser cannot read, the server refuses in words
  const transfer = new DataTransfer();
  transfer.items.add(new File([made], file.name, { type: made.type }));
  input.files = transfer.files;
});
