#!/usr/bin/env bash
# Shows the main job: inspect, run and verify models from the command line, then the same from Python.
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
