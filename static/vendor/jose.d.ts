// What static/vendor/jose.js hands on (the list in static/vendor/src/), typed by the package that it was bundled from.
export {
  CompactEncrypt,
  base64url,
  calculateJwkThumbprint,
  compactDecrypt,
  compactVerify,
  decodeProtectedHeader,
  errors,
  importJWK,
} from "jose";
