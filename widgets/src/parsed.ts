/** What a body may show, once more: the kernel's list, kept in the page by the browser's own sanitiser where it has one. */
const SHOWN = {
  elements: [
    ...["blockquote", "br", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "pre", "s", "strong"],
    ...["table", "tbody", "thead", "tr"],
    ...["code", "div", "p", "section", "span", "sup", "td", "th", "ul"],
    { name: "a", attributes: ["href", "id", "title", "rel", "target"] },
    { name: "img", attributes: ["alt", "src"] },
    { name: "input", attributes: ["checked", "disabled", "type"] },
    { name: "li", attributes: ["id"] },
    { name: "ol", attributes: ["start"] },
  ],
  attributes: ["class"],
  comments: false,
  dataAttributes: false,
};

interface Trusting {
  createPolicy(name: string, rules: { createHTML: (html: string) => string }): { createHTML(html: string): string };
}

interface Sanitising {
  setHTML?(html: string, options: { sanitizer: typeof SHOWN }): void;
}

/** Vouches for the kernel's HTML on a page that demands trusted types, and for nothing else: nobody but `parsed` has it. */
let policy: { createHTML(html: string): string } | undefined;

/**
 * Parses what the kernel rendered and sanitised, without running or fetching anything. It is a document of its own, so
 * that nothing loads before it is adopted.
 */
export function parsed(html: string): Document {
  const page = document.implementation.createHTMLDocument("");
  const body: HTMLElement & Sanitising = page.body;
  if (body.setHTML) {
    body.setHTML(html, { sanitizer: SHOWN });
    return page;
  }
  const { trustedTypes } = globalThis as { trustedTypes?: Trusting };
  policy ??= trustedTypes?.createPolicy("memories-sdk", { createHTML: (text) => text });
  return new DOMParser().parseFromString(policy?.createHTML(html) ?? html, "text/html");
}
