// For Node that loads modules of the pages: js/formats lies where STATICFILES_DIRS takes it from.

export async function resolve(specifier, context, next) {
  const { href } = /^\.{1,2}\//.test(specifier) ? new URL(specifier, context.parentURL) : { href: specifier };
  return next(href.replace("/static/js/formats/", "/bridge-js/src/formats/"), context);
}
