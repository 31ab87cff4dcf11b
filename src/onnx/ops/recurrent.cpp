#include "onnx/onnx_map.h"

namespace tenon {

namespace {

// 'output_sequence' of early versions only says whether the first output is used.
template <OpId op>
void import_recurrent(ImportNode& n) {
  n.ignore_attribute("output_sequence");
  n.finish(n.emit(op, n.read_params(op), n.inputs(), n.output_count()));
}

}  // namespace

template <>
void onnx_mapping<OpId::RNN>(OnnxMap& map) {
  map.custom(kOnnxDomain, "RNN", OpId::RNN, import_recurrent<OpId::RNN>);
}
template <>
void onnx_mapping<OpId::GRU>(OnnxMap& map) {
  map.custom(kOnnxDomain, "GRU", OpId::GRU, import_recurrent<OpId::GRU>);
}
template <>
void onnx_mapping<OpId::LSTM>(OnnxMap& map) {
  map.custom(kOnnxDomain, "LSTM", OpId::LSTM, import_recurrent<OpId::LSTM>);
}

}  // namespace tenon
