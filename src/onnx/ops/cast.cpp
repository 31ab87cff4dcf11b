#include "ops/cast.h"

#include <algorithm>
#include <cctype>

#include "onnx/node_draft.h"

namespace tenon {

namespace {

// Before version 6 the type is a word such as "FLOAT".
void import_cast(ImportNode& n) {
  if (n.version() >= 6) {
    n.finish(n.emit(OpId::Cast, n.read_params(OpId::Cast), n.inputs()));
    return;
  }
  std::string word = n.string_attribute("to", "");
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char x) { return std::tolower(x); });
  CastParams params;
  params.to = dtype_from_name(word).value_or(DType::Undefined);
  n.finish(n.emit(OpId::Cast, Params::of(params), n.inputs()));
}

// A target of known type is a Cast; the target itself is not needed.
void import_cast_like(ImportNode& n) {
  const auto like = n.read_params<CastLikeParams>();
  const DType to = n.type(n.input(1)).dtype;
  if (to == DType::Undefined) {
    n.finish(n.emit(OpId::CastLike, Params::of(like), n.inputs()));
    return;
  }
  CastParams params;
  params.saturate = like.saturate;
  params.round_mode = like.round_mode;
  params.to = to;
  n.finish(n.emit(OpId::Cast, Params::of(params), {n.input(0)}));
}

void import_bit_cast(ImportNode& n) {
  BitCastParams params;
  params.to = dtype_from_onnx(n.int_attribute("to", 0)).value_or(DType::Undefined);
  n.finish(n.emit(OpId::BitCast, Params::of(params), n.inputs()));
}

// The word for a type, as versions before 6 have it.
bool write_old_cast(NodeDraft& d) {
  if (d.version >= 6) return false;
  std::string word(dtype_name(d.params<CastParams>().to));
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char x) { return std::toupper(x); });
  d.set_string("to", word);
  return true;
}

}  // namespace

template <>
void onnx_mapping<OpId::BitCast>(OnnxMap& map) {
  map.custom(kOnnxDomain, "BitCast", OpId::BitCast, import_bit_cast).needs("to", 26);
}

template <>
void onnx_mapping<OpId::Cast>(OnnxMap& map) {
  map.custom(kOnnxDomain, "Cast", OpId::Cast, import_cast).needs("to");
  map.way_back(OpId::Cast, kOnnxDomain, "Cast", write_old_cast);
}

template <>
void onnx_mapping<OpId::CastLike>(OnnxMap& map) {
  map.custom(kOnnxDomain, "CastLike", OpId::CastLike, import_cast_like);
}

}  // namespace tenon
