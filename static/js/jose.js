// The JOSE library for bridge-js/src/formats, which the pages load as js/formats: on Node, a file of this name has the package.
export { CompactEncrypt, calculateJwkThumbprint, compactDecrypt, compactVerify, importJWK } from "../vendor/jose.js";
