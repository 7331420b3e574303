// Plays steps from standard input with the kernels of a folder: {set, run, get} each, one line of JSON for each.
import fs from "fs";
import path from "path";
import zlib from "zlib";
const [, , script, base] = process.argv;
const { Kernels } = await import(script);
const unpacked = (path) => zlib.gunzipSync(fs.readFileSync(`${path}.gz`));
const layout = JSON.parse(unpacked(`${base}.json`)), folder = path.dirname(base);
const files = Object.fromEntries(["", ...layout.data.map(([, file]) => file)].map((file) => [file, unpacked(`${file ? `${folder}/${file}` : base}.data`)]));
const kernels = await Kernels.load(unpacked(`${folder}/${path.basename(base).split("-")[0]}.wasm`), layout, files);
const shown = (name) => kernels.layout.arrays[name].fields
  ? Buffer.from(kernels.array(name)).toString("base64") : Array.from(kernels.array(name), String);
for (const { set = {}, run = [], get = [] } of JSON.parse(fs.readFileSync(0))) {
  for (const [name, values] of Object.entries(set)) {
    const array = kernels.array(name);
    array.set(array.BYTES_PER_ELEMENT === 8 && typeof array[0] === "bigint" ? values.map(BigInt) : values);
  }
  const results = run.map(([name, numbers]) => kernels.run(name, numbers));
  const arrays = Object.fromEntries(get.map((name) => [name, shown(name)]));
  console.log(JSON.stringify({ results, arrays }));
}
