#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tensor/tensor.h"
#include "weights/file_place.h"

namespace tenon {

// Named tensors to take weights from. What a tensor is costs nothing to ask; its bytes are read when asked for.
// Thread-safe for concurrent reads.
class WeightSource {
 public:
  struct Description {
    DType dtype = DType::Undefined;  // undefined: it is there, but reading it fails and says why
    std::vector<int64_t> dims;
    bool certain = true;  // false: an attribute of a node, which may be a weight or not
  };

  virtual ~WeightSource() = default;
  // What messages call it: a path, "memory".
  virtual std::string where() const = 0;
  virtual std::vector<std::string> names() const = 0;  // sorted
  virtual std::optional<Description> find(const std::string& name) const = 0;
  // Views into mapped files where the elements can be used as they are.
  virtual Result<Tensor> read(const std::string& name) const = 0;
  // Where in a file the elements lie as they are; nothing: they were made from what is in a file, or are in memory
  // only.
  virtual std::optional<FilePlace> place(const std::string& /*name*/) const { return std::nullopt; }
  // A node of the model that the weights come from, with the attributes that are numbers, texts or lists of integers.
  using Attribute = std::variant<float, int64_t, std::string, std::vector<int64_t>>;
  struct Node {
    std::string name, op;
    std::map<std::string, Attribute> attributes;
  };
  // None for files that are no models.
  virtual std::vector<Node> nodes() const { return {}; }
  // False when somebody else may write to the tensors later, so that they cannot be used in place.
  virtual bool lasting() const { return true; }
};

// A .safetensors or .npz file, or an ONNX model: recognised by what the file holds, not by its name.
Result<std::unique_ptr<WeightSource>> open_weight_source(const std::string& path);
// `lasting`: nobody writes to them any more.
std::unique_ptr<WeightSource> weights_in_memory(std::map<std::string, Tensor> tensors, bool lasting);

// A tensor in a file of known layout.
struct FileRegion {
  WeightSource::Description description;
  FilePlace place;
};
// A folder that holds files of the same names and layout as those that weights came from.
Result<std::unique_ptr<WeightSource>> weights_in_folder(const std::string& folder,
                                                        std::map<std::string, FileRegion> layout);

}  // namespace tenon
