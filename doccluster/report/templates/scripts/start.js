const copy = byId("copy");
if (copy) copy.addEventListener("click", () => copyText(byId(copy.dataset.copies).textContent, copy));

follow(false);
