//! Runs a component's initialization, and makes a component that starts with the memory which that left behind.
//!
//! Wizer can do so by itself. For that it wants wasmtime's garbage collector, its cache of machine code and a parser of calls in
//! text, which nothing else here needs.

use wasmtime::{
    Result, Store,
    component::{Component, Instance, Lift, WasmList},
};
use wasmtime_wizer::{ComponentInstanceState, Wizer};

/// Calls the function without parameters and results that `wizer` names.
pub(crate) async fn component<T: Send>(
    wizer: &Wizer,
    store: &mut Store<T>,
    wasm: &[u8],
    instantiate: impl AsyncFnOnce(&mut Store<T>, &Component) -> Result<Instance>,
) -> Result<Vec<u8>> {
    let (context, instrumented) = wizer.instrument_component(wasm)?;
    let component = Component::new(store.engine(), &instrumented)?;
    let instance = instantiate(store, &component).await?;
    let initialize = instance.get_typed_func::<(), ()>(&mut *store, wizer.get_init_func())?;
    initialize.call_async(&mut *store, ()).await?;
    wizer.snapshot_component(&context, &mut InstanceState { store, instance }).await
}

/// An instance whose component wizer has given functions that tell its state.
struct InstanceState<'s, T: 'static> {
    store: &'s mut Store<T>,
    instance: Instance,
}

impl<T: Send> InstanceState<'_, T> {
    async fn call<R: Lift + Send + Sync + 'static>(&mut self, interface: &str, function: &str) -> R {
        const THERE: &str = "wizer has added this function, which only reads";
        let store = &mut *self.store;
        let (_, interface) = self.instance.get_export(&mut *store, None, interface).expect(THERE);
        let (_, function) = self.instance.get_export(&mut *store, Some(&interface), function).expect(THERE);
        let function = self.instance.get_typed_func::<(), (R,)>(&mut *store, function).expect(THERE);
        function.call_async(&mut *store, ()).await.expect(THERE).0
    }
}

impl<T: Send> ComponentInstanceState for InstanceState<'_, T> {
    async fn call_func_ret_list_u8(
        &mut self,
        interface: &str,
        function: &str,
        contents: impl FnOnce(&[u8]) + Send,
    ) {
        let list = self.call::<WasmList<u8>>(interface, function).await;
        contents(list.as_le_slice(&*self.store));
    }

    async fn call_func_ret_s32(&mut self, interface: &str, function: &str) -> i32 {
        self.call(interface, function).await
    }

    async fn call_func_ret_s64(&mut self, interface: &str, function: &str) -> i64 {
        self.call(interface, function).await
    }

    async fn call_func_ret_f32(&mut self, interface: &str, function: &str) -> u32 {
        self.call::<f32>(interface, function).await.to_bits()
    }

    async fn call_func_ret_f64(&mut self, interface: &str, function: &str) -> u64 {
        self.call::<f64>(interface, function).await.to_bits()
    }
}
