/** Kernels that `pipeline_src.jit.wasm` exported: entries of numbers and arrays at fixed addresses. */

const ARRAYS = {
  i1: Int8Array, u1: Uint8Array, b1: Uint8Array, i2: Int16Array, u2: Uint16Array, i4: Int32Array, u4: Uint32Array,
  i8: BigInt64Array, u8: BigUint64Array, f4: Float32Array, f8: Float64Array,
};
/** The method of a DataView that reads each, such as getInt8. */
const READS = Object.fromEntries(Object.entries(ARRAYS).map(([kind, one]) => [kind, `get${one.name.slice(0, -"Array".length)}`]));

export class Kernels {
  /** @param {BufferSource} code  @param {object} layout - of a board  @param {Object<string, Uint8Array>} files - its memory, by their names in the layout */
  static async load(code, layout, files) {
    const module = await WebAssembly.compile(code);
    const env = {};
    for (const { kind, name } of WebAssembly.Module.imports(module)) {
      if (kind !== "function") throw new Error(`no ${kind} ${name} here`);
      env[name] = name === "fmod" ? (x, y) => x % y : Math[name] ?? Math[name.slice(0, -1)];
    }
    return new Kernels(await WebAssembly.instantiate(module, { env }), layout, files);
  }

  constructor(instance, layout, files) {
    this.exports = instance.exports;
    this.layout = layout;
    this.memory = new DataView(this.exports.memory.buffer);
    for (const [at, file, from, size] of layout.data)
      new Uint8Array(this.memory.buffer, at, size).set(files[file].subarray(from, from + size));
  }

  /** The array of a name: reads and writes go to the module's memory. Records come as bytes. */
  array(name) {
    const { at, dtype, size = 1, shape } = this.layout.arrays[name];
    return new (ARRAYS[dtype ?? "u1"])(this.memory.buffer, at, shape.reduce((product, length) => product * length, size));
  }

  /** The record of an array of records at an index, as an object. */
  record(name, index) {
    const about = this.layout.arrays[name], { at, size } = about, found = {};
    about.list ??= Object.entries(about.fields);
    for (const [field, [kind, place]] of about.list) found[field] = this.read(kind, at + size * index + place);
    return found;
  }

  /** Run an entry with new values of some of its numbers; returns the numbers of its result, alone if it is one. */
  run(name, numbers = {}) {
    const entry = this.layout.entries[name];
    for (const [key, value] of Object.entries(numbers)) {
      const [at, kind] = entry.numbers[key];
      if (kind === "q") this.memory.setBigInt64(at, BigInt(value), true);
      else if (kind === "d") this.memory.setFloat64(at, value, true);
      else this.memory.setFloat32(at, value, true);
    }
    const status = this.exports[name](entry.slots, entry.result);
    if (status) throw new Error(`${name} ended with status ${status}`);
    const found = entry.returns.map(([kind, place]) => this.read(kind, entry.result + place));
    return found.length > 1 ? found : found[0];
  }

  /** The number of a kind at an address. */
  read(kind, at) {
    return kind === "?" ? this.memory.getUint8(at) !== 0 : Number(this.memory[READS[kind]](at, true));
  }
}
