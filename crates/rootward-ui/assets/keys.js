// The keyboard: what each key does, left alone while someone types.

/** `actions` has one function for each thing a key can do. */
export function listen(actions) {
  let afterG = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    const typing = event.target instanceof HTMLInputElement;
    if (event.key === "Escape") return void actions.close(typing);
    if (typing) {
      if (event.key === "Enter" || event.key === "ArrowDown") taken(event, actions.enterRows);
      return;
    }
    const jumping = event.timeStamp - afterG < 1_000;
    afterG = event.key === "g" ? event.timeStamp : -Infinity;
    const part = { i: "incidents", s: "services", r: "resources" }[event.key];
    if (jumping && part) taken(event, () => actions.jump(part));
    else if (event.key === "/") taken(event, actions.search);
    else if (event.key === "?") taken(event, actions.keys);
    else if (event.key === "j") taken(event, () => actions.move(1));
    else if (event.key === "k") taken(event, () => actions.move(-1));
  });
}

function taken(event, action) {
  event.preventDefault();
  action();
}
