// What the sealing library uses of jose, and nothing else.
export { compactDecrypt } from "jose/jwe/compact/decrypt";
export { CompactEncrypt } from "jose/jwe/compact/encrypt";
export { calculateJwkThumbprint } from "jose/jwk/thumbprint";
export { compactVerify } from "jose/jws/compact/verify";
export { importJWK } from "jose/key/import";
export { decodeProtectedHeader } from "jose/decode/protected_header";
export * as base64url from "jose/base64url";
export * as errors from "jose/errors";
