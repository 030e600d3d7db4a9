// What static/vendor/zxcvbn.js hands on, typed by the package that it was bundled from.
import type { ZxcvbnFactory } from "@zxcvbn-ts/core";

export const estimator: ZxcvbnFactory;
