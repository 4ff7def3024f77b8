// Dialogs: a question before something is done, a line of text, the keys.

import { h } from "../dom.js";

function show(title, content, buttons) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { class: "dialog", "aria-labelledby": "dialog-title" });
    const close = (answer) => {
      dialog.close();
      dialog.remove();
      resolve(answer);
    };
    const form = h("form", { method: "dialog", onsubmit: (event) => { event.preventDefault(); close(buttons.at(-1).answer()); } },
      h("h2", { id: "dialog-title" }, title), content,
      h("div", { class: "dialog-buttons" }, buttons.map((button) =>
        h("button", { type: button.submit ? "submit" : "button", class: button.class, autofocus: button.focus, onclick: button.submit ? undefined : () => close(button.answer()) }, button.text))));
    dialog.append(form);
    dialog.addEventListener("cancel", () => close(null));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Asks a question. */
export const confirm = (title, text, yes, kind = "danger") =>
  show(title, h("div", { class: "dialog-text" }, text), [
    { text: "Cancel", class: "button", answer: () => false },
    { text: yes, class: `button ${kind}`, answer: () => true, submit: true, focus: true },
  ]);

/** Asks for a line of text; null if the user cancels. */
export function ask(title, labelText, yes, placeholder = "") {
  const input = h("input", { type: "text", class: "input", id: "dialog-input", autofocus: true, placeholder });
  const content = h("p", {}, h("label", { for: "dialog-input" }, labelText), input);
  return show(title, content, [
    { text: "Cancel", class: "button", answer: () => null },
    { text: yes, class: "button primary", answer: () => input.value, submit: true },
  ]);
}

/** Shows something to read. */
export const tell = (title, content) =>
  show(title, content, [{ text: "Close", class: "button primary", answer: () => null, submit: true, focus: true }]);
