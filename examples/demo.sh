#!/usr/bin/env bash
# Shows the main jobs: inspect, run and verify models, from the command line and from Python; optimize a model and build it
# twice; then compile models that share weights into one file, and replace the weights.
# Usage: demo.sh FOLDER, with `tenon` and its Python environment on PATH; `./dev demo` does that.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
folder=$1

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

python "$here/make_models.py" "$folder"
show tenon inspect "$folder/cnn.onnx"
show tenon run "$folder/mlp.onnx" --random --seed 1 --dim batch=4
show tenon run "$folder/newton.onnx" --random --seed 1 --dim n=5
for model in mlp cnn newton; do
  show tenon verify "$folder/$model.onnx"
done
show python "$here/run_models.py" "$folder"

python "$here/make_exported_model.py" "$folder"
rm -rf "$folder/built"
show tenon optimize -m "$folder/exported.onnx" -o "$folder/normal.onnx" --explain --overwrite
show tenon optimize -m "$folder/normal.onnx" -o "$folder/normal.onnx" --overwrite
show tenon build -m "$folder/exported.onnx" -o "$folder/built"
show tenon build -m "$folder/exported.onnx" -o "$folder/built"
show tenon analyze "$folder/exported.onnx"

python "$here/make_shared_models.py" "$folder"
show tenon compile -m "$folder/classify.onnx" -m "$folder/detect.onnx" --output-dir "$folder/vision" --overwrite
show tenon compile -m "$folder/prefill.onnx" -m "$folder/decode.onnx" --output-dir "$folder/language" --overwrite
show ls -l "$folder/vision" "$folder/language"
show tenon run "$folder/vision/classify_ctx.onnx" --random --seed 1 --dim batch=2
show tenon run "$folder/language/decode_ctx.onnx" --input words=[[7]]
show tenon inspect "$folder/vision/classify_ctx.onnx" --weight-program
show tenon weights set "$folder/vision" --from "$folder/tuned.npz" --output-dir "$folder/tuned" --overwrite
show tenon run "$folder/tuned/classify_ctx.onnx" --random --seed 1 --dim batch=2
show tenon verify "$folder/vision" --source-dir "$folder"
show tenon verify "$folder/tuned" --source-dir "$folder"
