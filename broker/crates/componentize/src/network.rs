//! A component that asks for sockets gets some that refuse everything, inside of itself.
//!
//! Python's runtime imports all of `wasi:sockets` whether or not a program uses it, and Broker grants no plugin any of
//! it. What is put in its place here can reach nothing: it is a component without imports of its own but for types.

use anyhow::{Context as _, Result, bail};
use wasm_compose::graph::{Component, CompositionGraph, EncodeOptions};
use wasm_encoder::{
    CodeSection, ConstExpr, DataSection, ExportKind, ExportSection, Function, FunctionSection, MemorySection,
    MemoryType, Module, TypeSection, ValType,
};
use wasmparser::{Validator, WasmFeatures};
use wit_component::{ComponentEncoder, DecodedWasm, StringEncoding, embed_component_metadata};
use wit_parser::{
    LiftLowerAbi, ManglingAndAbi, Resolve, WasmExport, WasmExportKind, WorldId, WorldItem, WorldKey,
    abi::{AbiVariant, WasmSignature, WasmType},
};

const NETWORK: &str = "wasi:sockets/";

/// The interfaces whose types sockets are told in.
const TYPES: [&str; 2] = ["wasi:io/", "wasi:clocks/"];

/// Returns the component without its need of a network. A component that needs none is returned unchanged.
pub fn without_network(component: Vec<u8>) -> Result<Vec<u8>> {
    let DecodedWasm::Component(mut resolve, world) = wit_component::decode(&component)? else {
        bail!("it is no component");
    };
    let Some(refusing) = refusing_world(&mut resolve, world)? else { return Ok(component) };
    let refusing = refusing_component(&resolve, refusing)?;
    joined(&component, &refusing).context("the network cannot be taken from it")
}

/// The world of a component that has the sockets that `world` wants, if it wants any.
fn refusing_world(resolve: &mut Resolve, world: WorldId) -> Result<Option<WorldId>> {
    let mut refusing = resolve.worlds[world].clone();
    let imports = std::mem::take(&mut refusing.imports);
    let is_of = |resolve: &Resolve, key: &WorldKey, prefixes: &[&str]| {
        let name = resolve.name_world_key(key);
        prefixes.iter().any(|it| name.starts_with(it))
    };
    refusing.exports = imports.clone();
    refusing.exports.retain(|key, _| is_of(resolve, key, &[NETWORK]));
    refusing.imports = imports;
    refusing.imports.retain(|key, _| is_of(resolve, key, &TYPES));
    if refusing.exports.is_empty() {
        return Ok(None);
    }
    refusing.name = "refusing".to_owned();
    let package = refusing.package.context("the world is in no package")?;
    let world = resolve.worlds.alloc(refusing);
    resolve.packages[package].worlds.insert("refusing".to_owned(), world);
    Ok(Some(world))
}

fn refusing_component(resolve: &Resolve, world: WorldId) -> Result<Vec<u8>> {
    let mut module = refusing_module(resolve, world);
    embed_component_metadata(&mut module, resolve, world, StringEncoding::UTF8)?;
    ComponentEncoder::default().validate(true).module(&module)?.encode()
}

const MANGLING: ManglingAndAbi = ManglingAndAbi::Legacy(LiftLowerAbi::Sync);

/// Address of the answer to every call, whose 64 bytes are as long as any answer can be.
const ANSWER: i32 = 64;

/// `result` is told by a byte of which 1 is the error, the error by one of which 1 is `access-denied`, and padding by
/// any: so bytes that are all 1 are that answer for whatever the function's result is.
const REFUSED: [u8; 64] = [1; 64];

/// Every function of the world, each of which refuses.
fn refusing_module(resolve: &Resolve, world: WorldId) -> Vec<u8> {
    let mut parts = Parts::default();
    for (interface, item) in &resolve.worlds[world].exports {
        let WorldItem::Interface { id, .. } = item else { continue };
        for func in resolve.interfaces[*id].functions.values() {
            let export = WasmExport::Func { interface: Some(interface), func, kind: WasmExportKind::Normal };
            let name = resolve.wasm_export_name(MANGLING, export);
            parts.function(&name, &resolve.wasm_signature(AbiVariant::GuestExport, func));
        }
    }
    let memory = resolve.wasm_export_name(MANGLING, WasmExport::Memory);
    let grow = resolve.wasm_export_name(MANGLING, WasmExport::Realloc);
    // Only one that has a socket hands anything over, and none has.
    let params = vec![WasmType::I32; 4];
    let results = vec![WasmType::I32];
    parts.function(&grow, &WasmSignature { params, results, indirect_params: false, retptr: false });
    parts.module(&memory)
}

#[derive(Default)]
struct Parts {
    types: TypeSection,
    functions: FunctionSection,
    exports: ExportSection,
    code: CodeSection,
}

impl Parts {
    /// A function that says no, or that cannot be called, having no way to.
    fn function(&mut self, name: &str, signature: &WasmSignature) {
        let number = self.functions.len();
        let valued = |it: &[WasmType]| it.iter().map(|it| value(*it)).collect::<Vec<_>>();
        self.types.ty().function(valued(&signature.params), valued(&signature.results));
        self.functions.function(number);
        self.exports.export(name, ExportKind::Func, number);
        let mut body = Function::new([]);
        if signature.retptr {
            body.instructions().i32_const(ANSWER);
        } else {
            body.instructions().unreachable();
        }
        body.instructions().end();
        self.code.function(&body);
    }

    fn module(mut self, memory: &str) -> Vec<u8> {
        let mut memories = MemorySection::new();
        let one_page =
            MemoryType { minimum: 1, maximum: Some(1), memory64: false, shared: false, page_size_log2: None };
        memories.memory(one_page);
        self.exports.export(memory, ExportKind::Memory, 0);
        let mut data = DataSection::new();
        data.active(0, &ConstExpr::i32_const(ANSWER), REFUSED);
        let mut module = Module::new();
        module.section(&self.types).section(&self.functions).section(&memories).section(&self.exports);
        module.section(&self.code).section(&data);
        module.finish()
    }
}

fn value(of: WasmType) -> ValType {
    match of {
        WasmType::I32 | WasmType::Pointer | WasmType::Length => ValType::I32,
        WasmType::I64 | WasmType::PointerOrI64 => ValType::I64,
        WasmType::F32 => ValType::F32,
        WasmType::F64 => ValType::F64,
    }
}

/// `component` with what it imports and `part` exports.
fn joined(component: &[u8], part: &[u8]) -> Result<Vec<u8>> {
    let mut validator = Validator::new_with_features(WasmFeatures::all());
    let mut graph = CompositionGraph::new();
    let whole = graph.add_component(Component::from_bytes(&mut validator, "plugin", component)?)?;
    let part = graph.add_component(Component::from_bytes(&mut validator, "refusing", part)?)?;
    let (to, from) = (graph.instantiate(whole)?, graph.instantiate(part)?);
    let missing = || anyhow::anyhow!("a component of the graph is gone");
    let exports: Vec<_> = graph
        .get_component(part)
        .with_context(missing)?
        .exports()
        .map(|it| (it.0, it.1.to_owned()))
        .collect();
    for (export, name) in exports {
        let import = graph.get_component(whole).with_context(missing)?.import_by_name(&name);
        let (import, _) = import.with_context(|| format!("nothing imports {name}"))?;
        graph.connect(from, Some(export), to, import)?;
    }
    graph.encode(EncodeOptions { export: Some(to), define_components: true, validate: true })
}
