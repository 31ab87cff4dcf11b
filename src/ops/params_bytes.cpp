// Parameters as bytes and as text.
#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "ops/op.h"

namespace tenon {

namespace {

class BytesWriter final : public FieldVisitor {
 public:
  using FieldVisitor::field;
  std::string bytes;

  void field(const char*, int64_t& v) override { put(&v, sizeof v); }
  void field(const char*, float& v) override { put(&v, sizeof v); }
  void field(const char*, std::string& v) override { put_block(v.data(), v.size(), 1); }
  void field(const char*, std::vector<int64_t>& v) override { put_block(v.data(), v.size(), sizeof(int64_t)); }
  void field(const char*, std::vector<float>& v) override { put_block(v.data(), v.size(), sizeof(float)); }
  void field(const char* name, std::vector<std::string>& v) override {
    put_count(v.size());
    for (std::string& s : v) field(name, s);
  }
  void field(const char* name, Tensor& v) override {
    int64_t code = static_cast<int64_t>(v.dtype());
    field(name, code);
    std::vector<int64_t> dims = v.dims();
    field(name, dims);
    if (v.dtype() == DType::String) {
      std::vector<std::string> strings(v.as<std::string>().begin(), v.as<std::string>().end());
      field(name, strings);
    } else if (v.defined()) {
      put_block(v.data(), static_cast<size_t>(v.bytes()), 1);
    }
  }

 protected:
  void optional_field(const char*, bool& present) override { bytes += present ? '\1' : '\0'; }
  void choice(const char*, size_t& number, std::span<const char* const>) override {
    bytes += static_cast<char>(static_cast<uint8_t>(number));
  }

 private:
  void put(const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); }
  void put_count(size_t count) {
    uint64_t n = count;
    put(&n, sizeof n);
  }
  void put_block(const void* data, size_t count, size_t element) {
    put_count(count);
    if (count) put(data, count * element);
  }
};

class BytesReader final : public FieldVisitor {
 public:
  using FieldVisitor::field;
  explicit BytesReader(std::string_view bytes) : rest_(bytes) {}
  bool failed() const { return failed_ || !rest_.empty(); }

  void field(const char*, int64_t& v) override { get(&v, sizeof v); }
  void field(const char*, float& v) override { get(&v, sizeof v); }
  void field(const char*, std::string& v) override {
    v.resize(count(1));
    get(v.data(), v.size());
  }
  void field(const char*, std::vector<int64_t>& v) override {
    v.resize(count(sizeof(int64_t)));
    get(v.data(), v.size() * sizeof(int64_t));
  }
  void field(const char*, std::vector<float>& v) override {
    v.resize(count(sizeof(float)));
    get(v.data(), v.size() * sizeof(float));
  }
  void field(const char* name, std::vector<std::string>& v) override {
    v.resize(count(sizeof(uint64_t)));
    for (std::string& s : v) field(name, s);
  }
  void field(const char* name, Tensor& v) override {
    int64_t code = 0;
    std::vector<int64_t> dims;
    field(name, code);
    field(name, dims);
    v = Tensor();
    if (code == 0) return;
    auto dtype = dtype_from_onnx(code);
    if (!dtype) return fail();
    if (*dtype == DType::String) {
      std::vector<std::string> strings;
      field(name, strings);
      if (failed_ || checked_product(dims) != static_cast<int64_t>(strings.size())) return fail();
      make_tensor(v, *dtype, std::move(dims));
      if (v.defined()) std::ranges::copy(strings, v.as_mutable<std::string>().begin());
    } else {
      std::string block;
      field(name, block);
      // Compared before memory is taken: a few bytes of dims can ask for any amount.
      const auto elements = checked_product(dims);
      if (failed_ || !elements || storage_bytes(*dtype, *elements) != static_cast<int64_t>(block.size())) return fail();
      make_tensor(v, *dtype, std::move(dims));
      if (v.defined() && !block.empty()) std::memcpy(v.mutable_data(), block.data(), block.size());
    }
  }

 protected:
  void optional_field(const char*, bool& present) override {
    char c = 0;
    get(&c, 1);
    present = c != 0;
  }
  void choice(const char*, size_t& number, std::span<const char* const> names) override {
    uint8_t stored = 0;
    get(&stored, 1);
    if (stored >= names.size()) return fail();
    number = stored;
  }

 private:
  void fail() {
    failed_ = true;
    rest_ = {};
  }
  void get(void* to, size_t size) {
    if (size == 0) return;
    if (size > rest_.size()) {
      std::memset(to, 0, size);
      return fail();
    }
    std::memcpy(to, rest_.data(), size);
    rest_.remove_prefix(size);
  }
  // A count whose elements can still be in the rest, so a wrong one never allocates more than the input's size.
  size_t count(size_t element) {
    uint64_t n = 0;
    get(&n, sizeof n);
    if (n > rest_.size() / element) {
      fail();
      return 0;
    }
    return static_cast<size_t>(n);
  }
  void make_tensor(Tensor& v, DType dtype, std::vector<int64_t> dims) {
    auto t = Tensor::allocate(dtype, std::move(dims), nullptr);
    if (!t.ok()) return fail();
    v = std::move(*t);
  }

  std::string_view rest_;
  bool failed_ = false;
};

// Collects "name=value" per field.
class TextWriter final : public FieldVisitor {
 public:
  using FieldVisitor::field;
  std::vector<std::pair<std::string, std::string>> fields;

  void field(const char* name, int64_t& v) override { add(name, std::to_string(v)); }
  void field(const char* name, float& v) override { add(name, fmt::format("{}", v)); }
  void field(const char* name, std::string& v) override { add(name, "\"" + v + "\""); }
  void field(const char* name, std::vector<int64_t>& v) override { add_list(name, v); }
  void field(const char* name, std::vector<float>& v) override { add_list(name, v); }
  void field(const char* name, std::vector<std::string>& v) override { add_list(name, v); }
  void field(const char* name, Tensor& v) override {
    if (!v.defined()) return add(name, "none");
    add(name, fmt::format("{} tensor of {} elements", dtype_name(v.dtype()), v.size()));
  }

 protected:
  void optional_field(const char* name, bool& present) override {
    if (!present) add(name, "none");
  }

 private:
  void add(const char* name, std::string text) { fields.emplace_back(name, std::move(text)); }
  template <class T>
  void add_list(const char* name, const std::vector<T>& v) {
    std::string text = "[";
    for (size_t i = 0; i < v.size() && i < 16; ++i) text += fmt::format("{}{}", i ? ", " : "", v[i]);
    add(name, text + (v.size() > 16 ? fmt::format(", ... {} in total]", v.size()) : "]"));
  }
};

}  // namespace

std::string params_to_bytes(OpId id, const Params& params) {
  BytesWriter writer;
  op_def(id).visit_params(const_cast<void*>(params.erased()), writer);
  return std::move(writer.bytes);
}

Result<Params> params_from_bytes(OpId id, std::string_view bytes) {
  const OpDef& def = op_def(id);
  auto params = def.make_params();
  BytesReader reader(bytes);
  def.visit_params(params.get(), reader);
  if (reader.failed()) return error(Code::Incompatible, "the stored parameters of {} cannot be read", def.name);
  return Params::of_op(id, std::move(params));
}

std::string params_text(OpId id, const Params& params) {
  const OpDef& def = op_def(id);
  TextWriter given, defaults;
  def.visit_params(const_cast<void*>(params.erased()), given);
  def.visit_params(def.make_params().get(), defaults);
  std::string text;
  for (const auto& field : given.fields) {
    if (std::find(defaults.fields.begin(), defaults.fields.end(), field) != defaults.fields.end()) continue;
    text += (text.empty() ? "" : ", ") + field.first + "=" + field.second;
  }
  return text;
}

}  // namespace tenon
