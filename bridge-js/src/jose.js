// The one place that names the JOSE library: Node has it as a package, and the pages have a file of this name of their own.
export * from "jose";
