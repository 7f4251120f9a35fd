import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { markdown, markdownKeymap } from "@codemirror/lang-markdown";
import { HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Annotation, Compartment, EditorSelection, EditorState, Text } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, placeholder } from "@codemirror/view";
import { tags as t } from "@lezer/highlight";
import { GFM } from "@lezer/markdown";
import { type Field, lineEnds } from "./field.ts";

const highlight = HighlightStyle.define([
  { tag: t.heading, fontWeight: "700", color: "var(--msdk-accent-text)" },
  { tag: t.heading1, fontSize: "1.25em" },
  { tag: t.heading2, fontSize: "1.12em" },
  { tag: t.emphasis, fontStyle: "italic" },
  { tag: t.strong, fontWeight: "700" },
  { tag: t.strikethrough, textDecoration: "line-through" },
  { tag: [t.link, t.url], color: "var(--msdk-accent-text)" },
  { tag: t.monospace, color: "var(--msdk-code)" },
  { tag: t.quote, color: "var(--msdk-muted)" },
  { tag: [t.processingInstruction, t.contentSeparator, t.labelName], color: "var(--msdk-muted)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--msdk-text)", backgroundColor: "transparent", fontSize: "var(--msdk-code-size)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--msdk-code-font)", lineHeight: "1.6", overflow: "auto" },
  ".cm-content": { caretColor: "var(--msdk-text)", padding: "10px 0 24px" },
  ".cm-line": { padding: "0 14px" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "var(--msdk-hover)" },
  ".cm-cursor": { borderLeftColor: "var(--msdk-text)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--msdk-selection)",
  },
  ".cm-placeholder": { color: "var(--msdk-muted)", fontStyle: "italic" },
});

/** Marks what the kernel put in, which nobody typed. */
const fromKernel = Annotation.define<boolean>();

function brokenLike(text: string, state: EditorState): string {
  return text.replaceAll(/\r\n?|\n/g, state.lineBreak);
}

/** Puts a CodeMirror for markdown into `parent`. `changed` hears of every edit a person makes. */
export function codeField(parent: HTMLElement, label: string, changed: () => void): Field {
  const lock = new Compartment();
  const hint = new Compartment();
  const state = (doc: string) =>
    EditorState.create({
      doc,
      extensions: [
        // Splitting at one kind of break only leaves every other \r where it was, byte for byte.
        EditorState.lineSeparator.of(lineEnds(doc) === "\r\n" ? "\r\n" : "\n"),
        // What is pasted takes the breaks of this text; the clipboard of Windows brings its own.
        EditorView.clipboardInputFilter.of(brokenLike),
        history(),
        drawSelection(),
        highlightActiveLine(),
        EditorView.lineWrapping,
        EditorState.tabSize.of(4),
        indentUnit.of("  "),
        markdown({ extensions: GFM }),
        syntaxHighlighting(highlight),
        look,
        keymap.of([
          ...markdownKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          // Tab itself leaves the field: nobody who works by keyboard gets stuck in it.
          { key: "Mod-]", run: indentMore },
          { key: "Mod-[", run: indentLess },
        ]),
        lock.of(EditorState.readOnly.of(false)),
        hint.of([]),
        EditorView.perLineTextDirection.of(true),
        EditorView.contentAttributes.of({
          "aria-label": label,
          tabindex: "0",
          spellcheck: "true",
          "data-lm-suppress-shortcuts": "true",
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !update.transactions.some((tr) => tr.annotation(fromKernel))) changed();
        }),
      ],
    });
  parent.replaceChildren();
  const view = new EditorView({ parent, state: state("") });
  let placeholderText = "";
  let locked = false;
  const dress = () =>
    view.dispatch({
      effects: [hint.reconfigure(placeholder(placeholderText)), lock.reconfigure(EditorState.readOnly.of(locked))],
    });
  return {
    get: () => view.state.sliceDoc(),
    // A new state also empties the undo history: undo must not bring back another memory's text.
    set: (text) => {
      view.setState(state(text));
      dress();
    },
    aim: (x, y) => {
      const at = view.posAtCoords({ x, y });
      if (at !== null) view.dispatch({ selection: { anchor: at } });
    },
    insert: (text) => {
      view.dispatch(view.state.replaceSelection(brokenLike(text, view.state)));
    },
    edit: (text) => {
      // In a document every break counts one, whatever it is in the text.
      const [now, next] = [view.state.doc.toString(), text.replaceAll(view.state.lineBreak, "\n")];
      let from = 0;
      while (from < Math.min(now.length, next.length) && now[from] === next[from]) from += 1;
      let tail = 0;
      while (tail < Math.min(now.length, next.length) - from && now.at(-1 - tail) === next.at(-1 - tail)) tail += 1;
      const insert = Text.of(next.slice(from, next.length - tail).split("\n"));
      view.dispatch({ changes: { from, to: now.length - tail, insert }, selection: { anchor: from + insert.length }, scrollIntoView: true });
    },
    select: (from, to) => {
      const inside = (at: number) => Math.min(at, view.state.doc.length);
      view.dispatch({
        selection: EditorSelection.single(inside(from), inside(to)),
        effects: EditorView.scrollIntoView(inside(from), { y: "center" }),
      });
    },
    selection: () => [view.state.selection.main.from, view.state.selection.main.to],
    lock: (on) => {
      locked = on;
      dress();
    },
    hint: (text) => {
      placeholderText = text;
      dress();
    },
    focus: () => view.focus(),
    focused: () => view.hasFocus,
    destroy: () => view.destroy(),
  };
}
