// What actions/upload-artifact does with its inputs, around the same client. Its
// own bundle cannot be run here; search and root folder follow its rules: one
// search path is the root itself, several share their longest common folder.
import { stat } from "node:fs/promises";
import path from "node:path";
import { DefaultArtifactClient } from "@actions/artifact";
import * as core from "@actions/core";
import * as glob from "@actions/glob";

function commonFolder(folders) {
  const parts = folders.map((f) => path.normalize(f).split(path.sep));
  let n = 0;
  while (parts.every((p) => n < p.length && p[n] === parts[0][n])) n++;
  return parts[0].slice(0, n).join(path.sep) || path.sep;
}

async function files() {
  const globber = await glob.create(core.getInput("path", { required: true }), {
    followSymbolicLinks: true,
    implicitDescendants: true,
    omitBrokenSymbolicLinks: true,
    excludeHiddenFiles: core.getInput("include-hidden-files") !== "true",
  });
  const found = [];
  for (const f of await globber.glob()) if (!(await stat(f)).isDirectory()) found.push(f);
  const searched = globber.getSearchPaths();
  let root = commonFolder(searched);
  if (searched.length === 1 && found.length === 1 && searched[0] === found[0]) root = path.dirname(found[0]);
  return { found, root };
}

try {
  const name = core.getInput("name");
  const { found, root } = await files();
  if (found.length === 0) {
    const text = `no file at ${core.getInput("path")}`;
    const wanted = core.getInput("if-no-files-found");
    if (wanted === "error") throw new Error(text);
    if (wanted === "warn") core.warning(text);
  } else {
    const days = Number(core.getInput("retention-days"));
    const options = { compressionLevel: Number(core.getInput("compression-level")) };
    if (days > 0) options.retentionDays = days;
    const { id, digest, size } = await new DefaultArtifactClient().uploadArtifact(name, found, root, options);
    core.info(`uploaded ${found.length} files of ${root} as ${name}: ${size} bytes`);
    core.setOutput("artifact-id", id);
    core.setOutput("artifact-digest", digest);
  }
} catch (error) {
  core.setFailed(error instanceof Error ? error.message : String(error));
}
