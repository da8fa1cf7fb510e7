// console_bundles.js PAGE <BUNDLE: what the console's page makes of a Bundle, in a document of our own: its rows, a line each, and for each
// button what it asks and the request that it sends.
const page = require("fs").readFileSync(process.argv[2], "utf8"), script = page.split("<script>")[1].split("</script>")[0];
class Node { constructor(tag) { this.tag = tag; this.kids = []; this.dataset = {}; this.on = {}; this.own = ""; this.value = ""; }
	get textContent() { return this.own || this.kids.map((k) => k.textContent).join("|"); } set textContent(t) { this.own = t; this.kids = []; }
	append(...k) { this.kids.push(...k); } replaceChildren(...k) { this.kids = k; } addEventListener(e, f) { this.on[e] = f; }
	showModal() {} close() {} all(tag) { return this.kids.flatMap((k) => [...(k.tag === tag ? [k] : []), ...k.all(tag)]); } }
const parts = {}, sent = [], bundle = JSON.parse(require("fs").readFileSync(0, "utf8"));
const part = (id) => parts[id] ??= new Node(id);
const fetch = async (path, o) => { sent.push(o.method + " " + path + " " + (o.body || "")); return { ok: true, json: async () => ({ items: [bundle] }), body: { pipeThrough: () => ({ getReader: () => ({ read: () => new Promise(() => {}) }) }) } }; };
const page_ = new Function("document", "fetch", "sessionStorage", "location", "history", "setInterval", "setTimeout", "clearInterval", "TextDecoderStream",
	script + "; return { readBundles: () => readBundles(session), drawBundles };")(
	{ getElementById: part, createElement: (t) => new Node(t), createDocumentFragment: () => new Node("f") }, fetch,
	{ getItem: () => "t", setItem() {}, removeItem() {} }, { hash: "", pathname: "/ui" }, { replaceState() {} }, () => 0, () => 0, () => 0, class {});
(async () => {
	await page_.readBundles();
	for (const row of parts.bundleRows.all("tr"))
		if (!row.all("tr").length && row.all("td").length) console.log(row.all("td").map((d) => d.textContent).join(" | "));
	for (const b of parts.bundleRows.all("button")) {
		b.on.click();
		parts.reason.value = "by the console";
		await parts.yes.on.click();
		console.log(parts.what.textContent + "\n" + sent.findLast((s) => s.startsWith("PATCH")));
	}
	process.exit();
})();
