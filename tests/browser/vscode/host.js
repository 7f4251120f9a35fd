// Does in a page what VS Code's Jupyter extension does in its webview: runs code in a kernel, and has the extension's own
// manager draw the widgets that come of it. Widgets of other packages, such as anywidget, come through requirejs.
import { KernelManager, ServerConnection } from "@jupyterlab/services";
import { activate } from "vscode-renderer";

/** Starts a kernel on the server and draws in `el`; resolves with what runs code there. */
globalThis.connect = async (baseUrl, el) => {
  activate();
  globalThis.vscIPyWidgets8.load();
  const { requirejs } = globalThis;
  const loader = {
    widgetsRegisteredInRequireJs: new Set(),
    loadWidgetScript: (name) => new Promise((resolve, reject) => requirejs([name], resolve, reject)),
    successHandler() {},
    errorHandler: (_class, name, _version, why) => console.error(`${name} was not loaded: ${why}`),
  };
  const wsUrl = baseUrl.replace(/^http/, "ws");
  const serverSettings = ServerConnection.makeSettings({ baseUrl, wsUrl, token: "" });
  const kernel = await new KernelManager({ serverSettings }).startNew({ name: "python3" });
  const manager = new globalThis.vscIPyWidgets.WidgetManager(kernel, el, loader, () => {});
  globalThis.kernel = kernel;
  globalThis.run = async (code) => {
    const shown = [];
    const future = kernel.requestExecute({ code });
    future.onIOPub = ({ header, content }) => {
      if (header.msg_type === "error") console.error(content.traceback.join("\n"));
      const view = content.data?.["application/vnd.jupyter.widget-view+json"];
      if (view) shown.push(view);
    };
    await future.done;
    for (const view of shown) {
      const model = await manager.get_model(view.model_id);
      await manager.display_view(view, await manager.create_view(model, { el }), { node: el });
    }
  };
};
