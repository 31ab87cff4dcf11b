// Tenon for C++20: the C interface (tenon.h) with owners instead of handles and exceptions instead of status codes.
//
//   tenon::Model model = tenon::Model::load("net.onnx");
//   tenon::Session session(model);
//   std::vector<float> x(12);
//   auto outputs = session.run({tenon::Value::tensor<float>({3, 4}, x)});
//   std::span<const float> y = outputs[0].data<float>();
//
// Every type is movable and owns its handle. Errors throw tenon::Error. Threads: as in tenon.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/tenon.h"

namespace tenon {
// Keeps the symbols of these classes apart from those inside the library.
inline namespace v0 {

// What went wrong, with the code that says whose problem it is.
class Error : public std::runtime_error {
 public:
  Error(tn_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  tn_code code() const { return code_; }

 private:
  tn_code code_;
};

namespace detail {

template <class Handle, void (*release)(Handle*)>
struct Release {
  void operator()(Handle* handle) const { release(handle); }
};
template <class Handle, void (*release)(Handle*)>
using Owner = std::unique_ptr<Handle, Release<Handle, release>>;

inline void check(tn_status* status) {
  if (!status) return;
  const Owner<tn_status, tn_status_release> owned(status);
  throw Error(tn_status_code(status), tn_status_message(status));
}

inline std::string take_text(char* text) {
  const Owner<char, tn_string_release> owned(text);
  return text;
}

// Text for the C interface, where it ends at the first zero byte: with one inside it would mean something else.
inline const char* c_text(const std::string& text, const char* what) {
  const size_t zero = text.find('\0');
  if (zero == std::string::npos) return text.c_str();
  throw Error(TN_INVALID_ARGUMENT, std::string(what) + " must not hold a zero character, as '" + text.substr(0, zero) +
                                       "\\0" + text.substr(zero + 1) + "' does");
}
inline std::vector<const char*> c_texts(std::span<const std::string> texts, const char* what) {
  std::vector<const char*> result;
  for (const std::string& text : texts) result.push_back(c_text(text, what));
  return result;
}

template <class T>
struct DTypeOf;
#define TN_DTYPE_OF(type, code)             \
  template <>                               \
  struct DTypeOf<type> {                    \
    static constexpr tn_dtype value = code; \
  };
TN_DTYPE_OF(float, TN_FLOAT32)
TN_DTYPE_OF(double, TN_FLOAT64)
TN_DTYPE_OF(int8_t, TN_INT8)
TN_DTYPE_OF(int16_t, TN_INT16)
TN_DTYPE_OF(int32_t, TN_INT32)
TN_DTYPE_OF(int64_t, TN_INT64)
TN_DTYPE_OF(uint8_t, TN_UINT8)
TN_DTYPE_OF(uint16_t, TN_UINT16)
TN_DTYPE_OF(uint32_t, TN_UINT32)
TN_DTYPE_OF(uint64_t, TN_UINT64)
TN_DTYPE_OF(bool, TN_BOOL)
#undef TN_DTYPE_OF

}  // namespace detail

// What people should know while calls are under way; see tn_set_message_handler. One handler for the process, which
// must not throw.
inline void set_message_handler(std::function<void(const std::string&)> handler) {
  // Never destroyed: threads may still speak while the process ends.
  static auto* current = new std::function<void(const std::string&)>;
  tn_set_message_handler(nullptr, nullptr);
  *current = std::move(handler);
  if (*current)
    tn_set_message_handler(
        [](void* user, const char* message) {
          (*static_cast<std::function<void(const std::string&)>*>(user))(message);
        },
        current);
}
// For a program that a signal is about to end; see tn_remove_temporary_files.
inline void remove_temporary_files() { tn_remove_temporary_files(); }
// The same for processes that builds have started; in libtenon only.
inline void end_children() { tn_end_children(); }

// Throws, naming the kind, unless nothing or a regular file has this path.
inline void check_replaceable(const std::string& path) {
  detail::check(tn_file_check_replaceable(detail::c_text(path, "the path of a file")));
}
// Puts a file in place with one rename, or leaves everything as it was.
inline void write_file(const std::string& path, std::string_view content) {
  detail::check(tn_file_write(detail::c_text(path, "the path of a file"), content.data(), content.size()));
}
// The first of these inputs, or of the files they refer to, that writing `output` would replace; "" when none is. In
// libtenon only.
inline std::string replaced_input(const std::string& output, std::span<const std::string> inputs) {
  const std::vector<const char*> texts = detail::c_texts(inputs, "the path of a file");
  char* input = nullptr;
  detail::check(
      tn_file_replaced_input(detail::c_text(output, "the path of a file"), texts.data(), texts.size(), &input));
  return detail::take_text(input);
}
inline std::string read_file(const std::string& path, size_t max_bytes) {
  char* text = nullptr;
  size_t size = 0;
  detail::check(tn_file_read(detail::c_text(path, "the path of a file"), max_bytes, &text, &size));
  const detail::Owner<char, tn_string_release> owned(text);
  return {text, size};
}

inline std::string version() { return tn_version(); }
inline std::string system_json() {
  char* text = nullptr;
  detail::check(tn_system_json(&text));
  return detail::take_text(text);
}

// A type of an input or output. Belongs to its session.
class TypeView {
 public:
  explicit TypeView(const tn_type* type) : type_(type) {}
  tn_kind kind() const { return tn_type_kind(type_); }
  tn_dtype dtype() const { return tn_type_dtype(type_); }
  // Nothing when the rank is unknown; -1 stands for a symbolic extent.
  std::optional<std::vector<int64_t>> dims() const {
    const int64_t rank = tn_type_rank(type_);
    if (rank < 0) return std::nullopt;
    std::vector<int64_t> dims;
    for (size_t i = 0; i < static_cast<size_t>(rank); ++i) dims.push_back(tn_type_dim(type_, i));
    return dims;
  }
  std::string dim_text(size_t axis) const { return tn_type_dim_text(type_, axis); }
  // The name the model gives the extent, or "".
  std::string dim_name(size_t axis) const { return tn_type_dim_name(type_, axis); }
  std::optional<TypeView> element() const {
    const tn_type* inner = tn_type_element(type_);
    return inner ? std::optional(TypeView(inner)) : std::nullopt;
  }
  std::string text() const { return tn_type_text(type_); }
  const tn_type* handle() const { return type_; }

 private:
  const tn_type* type_;
};

// A tensor, sequence, optional or map. Copies share the elements.
class Value {
 public:
  Value() = default;
  explicit Value(tn_value* handle) : handle_(handle) {}
  Value(const Value& other) : handle_(tn_value_retain(other.get())) {}
  Value& operator=(const Value& other) {
    handle_.reset(tn_value_retain(other.get()));
    return *this;
  }
  Value(Value&&) = default;
  Value& operator=(Value&&) = default;

  // Over memory of the caller's, which must outlive every use of the value.
  template <class T>
  static Value tensor(const std::vector<int64_t>& dims, std::span<T> data) {
    return borrow(detail::DTypeOf<std::remove_const_t<T>>::value, dims,
                  const_cast<void*>(static_cast<const void*>(data.data())), data.size_bytes());
  }
  template <class T>
  static Value tensor(const std::vector<int64_t>& dims, std::vector<T>& data) {
    return tensor<T>(dims, std::span<T>(data));
  }
  static Value borrow(tn_dtype dtype, const std::vector<int64_t>& dims, void* data, size_t bytes,
                      void (*release)(void*) = nullptr, void* user = nullptr) {
    tn_value* value = nullptr;
    detail::check(tn_tensor_create(dtype, dims.data(), dims.size(), data, bytes, release, user, &value));
    return Value(value);
  }
  // With memory of its own.
  static Value allocate(tn_dtype dtype, const std::vector<int64_t>& dims) {
    tn_value* value = nullptr;
    detail::check(tn_tensor_allocate(dtype, dims.data(), dims.size(), &value));
    return Value(value);
  }
  static Value strings(const std::vector<int64_t>& dims, std::span<const std::string> strings) {
    std::vector<const char*> texts;
    std::vector<size_t> lengths;
    for (const std::string& s : strings) {
      texts.push_back(s.data());
      lengths.push_back(s.size());
    }
    int64_t count = 1;
    for (int64_t d : dims) count *= d;
    if (count != static_cast<int64_t>(strings.size()))
      throw Error(TN_INVALID_ARGUMENT, "the shape needs " + std::to_string(count) + " strings, " +
                                           std::to_string(strings.size()) + " are given");
    tn_value* value = nullptr;
    detail::check(tn_tensor_create_strings(dims.data(), dims.size(), texts.data(), lengths.data(), &value));
    return Value(value);
  }
  static Value sequence(std::span<const Value> items, const tn_type* element_type = nullptr) {
    std::vector<const tn_value*> handles;
    for (const Value& item : items) handles.push_back(item.get());
    tn_value* value = nullptr;
    detail::check(tn_sequence_create(handles.data(), handles.size(), element_type, &value));
    return Value(value);
  }
  // An empty Value makes an empty optional.
  static Value optional(const Value& item, const tn_type* element_type = nullptr) {
    tn_value* value = nullptr;
    detail::check(tn_optional_create(item.get(), element_type, &value));
    return Value(value);
  }
  static Value map(const Value& keys, const Value& values) {
    tn_value* value = nullptr;
    detail::check(tn_map_create(keys.get(), values.get(), &value));
    return Value(value);
  }

  explicit operator bool() const { return handle_ != nullptr; }
  tn_kind kind() const { return tn_value_kind(get()); }
  tn_dtype dtype() const { return tn_tensor_dtype(get()); }
  std::vector<int64_t> dims() const {
    const int64_t* dims = tn_tensor_dims(get());
    return dims ? std::vector<int64_t>(dims, dims + tn_tensor_rank(get())) : std::vector<int64_t>{};
  }
  int64_t count() const { return tn_tensor_count(get()); }
  void* raw() const { return tn_tensor_data(get()); }
  int64_t bytes() const { return tn_tensor_bytes(get()); }
  // The elements; throws when T is not the element type.
  template <class T>
  std::span<T> data() const {
    using Element = std::remove_const_t<T>;
    if (dtype() != detail::DTypeOf<Element>::value)
      throw Error(TN_INVALID_ARGUMENT, std::string("the tensor holds ") + tn_dtype_name(dtype()) + ", not " +
                                           tn_dtype_name(detail::DTypeOf<Element>::value));
    return {static_cast<T*>(raw()), static_cast<size_t>(count())};
  }
  std::string_view string(int64_t index) const {
    size_t length = 0;
    const char* text = tn_tensor_string(get(), index, &length);
    if (!text) throw Error(TN_INVALID_ARGUMENT, "no string at index " + std::to_string(index));
    return {text, length};
  }
  size_t size() const { return tn_sequence_count(get()); }
  Value at(size_t index) const {
    tn_value* item = nullptr;
    detail::check(tn_sequence_at(get(), index, &item));
    return Value(item);
  }
  // Nothing when the optional is empty.
  std::optional<Value> item() const {
    tn_value* inside = nullptr;
    detail::check(tn_optional_get(get(), &inside));
    return inside ? std::optional(Value(inside)) : std::nullopt;
  }
  std::pair<Value, Value> keys_and_values() const {
    tn_value *keys = nullptr, *values = nullptr;
    detail::check(tn_map_get(get(), &keys, &values));
    return {Value(keys), Value(values)};
  }
  std::string type_text() const {
    char* text = nullptr;
    detail::check(tn_value_type_text(get(), &text));
    return detail::take_text(text);
  }
  // Without dims the nesting of the lists is the shape.
  static Value from_json(tn_dtype dtype, const std::string& json, const std::vector<int64_t>* dims = nullptr) {
    static constexpr int64_t kScalar = 0;  // an address for the dims of a scalar
    const int64_t* shape = !dims ? nullptr : dims->empty() ? &kScalar : dims->data();
    tn_value* value = nullptr;
    detail::check(
        tn_tensor_from_json(dtype, shape, dims ? dims->size() : 0, detail::c_text(json, "JSON text"), &value));
    return Value(value);
  }
  std::string describe(size_t max_elements = 8) const {
    char* text = nullptr;
    detail::check(tn_value_describe(get(), max_elements, &text));
    return detail::take_text(text);
  }
  // How far this is from what it should be; negative tolerances mean those of the element type.
  tn_comparison compare(const Value& expected, double rtol = -1, double atol = -1) const {
    tn_comparison comparison{};
    comparison.size = sizeof comparison;
    detail::check(tn_value_compare(get(), expected.get(), rtol, atol, &comparison));
    return comparison;
  }

  static Value read_npy(const std::string& path, tn_dtype unnamed = TN_UNDEFINED) {
    tn_value* value = nullptr;
    detail::check(tn_npy_read(detail::c_text(path, "the path of an array"), unnamed, &value));
    return Value(value);
  }
  void write_npy(const std::string& path) const {
    detail::check(tn_npy_write(detail::c_text(path, "the path of an array"), get()));
  }

  tn_value* get() const { return handle_.get(); }
  tn_value* release() { return handle_.release(); }

 private:
  detail::Owner<tn_value, tn_value_release> handle_;
};

// An archive of arrays, NumPy's .npz.
class Npz {
 public:
  explicit Npz(const std::string& path) {
    tn_npz* npz = nullptr;
    detail::check(tn_npz_open(detail::c_text(path, "the path of an archive"), &npz));
    handle_.reset(npz);
  }
  // The most memory that arrays read from it take together.
  void limit_memory(int64_t bytes) { detail::check(tn_npz_limit_memory(handle_.get(), bytes)); }
  size_t size() const { return tn_npz_count(handle_.get()); }
  std::string name(size_t i) const { return tn_npz_name(handle_.get(), i); }
  Value read(size_t i, tn_dtype unnamed = TN_UNDEFINED) const {
    tn_value* value = nullptr;
    detail::check(tn_npz_read(handle_.get(), i, unnamed, &value));
    return Value(value);
  }
  static void write(const std::string& path, std::span<const std::pair<std::string, Value>> arrays) {
    std::vector<const char*> names;
    std::vector<const tn_value*> values;
    for (const auto& [name, value] : arrays) {
      names.push_back(detail::c_text(name, "the name of an array"));
      values.push_back(value.get());
    }
    detail::check(
        tn_npz_write(detail::c_text(path, "the path of an archive"), names.data(), values.data(), arrays.size()));
  }

 private:
  detail::Owner<tn_npz, tn_npz_release> handle_;
};

// Keys and values for loading models and making sessions.
class Options {
 public:
  Options() : handle_(tn_options_create()) {}
  Options(std::initializer_list<std::pair<std::string, std::string>> values) : Options() {
    for (const auto& [key, value] : values) set(key, value);
  }
  Options& set(const std::string& key, const std::string& value) {
    detail::check(
        tn_options_set(get(), detail::c_text(key, "the name of an option"), detail::c_text(value, "an option")));
    return *this;
  }
  Options& set_weight(const std::string& name, const Value& value) {
    detail::check(tn_options_set_weight(get(), detail::c_text(name, "the name of a weight"), value.get()));
    return *this;
  }
  // The bytes must outlive the model.
  Options& add_file(const std::string& name, std::string_view bytes) {
    detail::check(tn_options_add_file(get(), detail::c_text(name, "the name of a file"), bytes.data(), bytes.size()));
    return *this;
  }
  tn_options* get() const { return handle_.get(); }

 private:
  detail::Owner<tn_options, tn_options_release> handle_;
};

// What sessions share.
class Context {
 public:
  explicit Context(const Options& options = {}) {
    tn_context* context = nullptr;
    detail::check(tn_context_create(options.get(), &context));
    handle_.reset(context);
  }
  int threads() const { return tn_context_threads(get()); }
  tn_context* get() const { return handle_.get(); }

 private:
  detail::Owner<tn_context, tn_context_release> handle_;
};

// Settings and results of runs: cancelling, profiling.
class Run {
 public:
  Run() : handle_(tn_run_create()) {}
  void cancel() { tn_run_cancel(get()); }
  void reset() { tn_run_reset(get()); }
  // Cancelling either one cancels both.
  void follow(const Run& leader) { tn_run_follow(get(), leader.get()); }
  // must_stop is called in the thread that runs, about every 50 ms; what is not 0 stops the run.
  void ask(int (*must_stop)(void*), void* user = nullptr) { tn_run_ask(get(), must_stop, user); }
  void enable_profile(bool enable = true) { tn_run_enable_profile(get(), enable); }
  std::string profile_json() const {
    char* text = nullptr;
    detail::check(tn_run_profile_json(get(), &text));
    return detail::take_text(text);
  }
  tn_run* get() const { return handle_.get(); }

 private:
  detail::Owner<tn_run, tn_run_release> handle_;
};

// Defined in libtenon only, so code that uses the runtime alone must not call these.
class Model {
 public:
  static Model load(const std::string& path, const Options& options = {}) {
    tn_model* model = nullptr;
    detail::check(tn_model_load_file(nullptr, detail::c_text(path, "the path of a model"), options.get(), &model));
    return Model(model);
  }
  static Model from_memory(std::string_view bytes, const Options& options = {}) {
    tn_model* model = nullptr;
    detail::check(tn_model_load_memory(nullptr, bytes.data(), bytes.size(), options.get(), &model));
    return Model(model);
  }
  void save(const std::string& path) const {
    detail::check(tn_model_save(get(), detail::c_text(path, "the path of a model")));
  }
  std::string to_memory() const {
    char* data = nullptr;
    size_t size = 0;
    detail::check(tn_model_to_memory(get(), &data, &size));
    const detail::Owner<char, tn_string_release> owned(data);
    return std::string(data, size);
  }
  std::string describe(const std::string& sections = "summary") const {
    char* text = nullptr;
    detail::check(tn_model_describe(get(), detail::c_text(sections, "sections"), &text));
    return detail::take_text(text);
  }
  std::string property(const std::string& name) const {
    const char* text = tn_model_property(get(), detail::c_text(name, "the name of a property"));
    return text ? text : "";
  }
  std::vector<std::pair<std::string, std::string>> metadata() const {
    std::vector<std::pair<std::string, std::string>> entries;
    for (size_t i = 0; i < tn_model_metadata_count(get()); ++i)
      entries.emplace_back(tn_model_metadata_key(get(), i), tn_model_metadata_value(get(), i));
    return entries;
  }
  std::vector<std::string> warnings() const {
    std::vector<std::string> messages;
    for (size_t i = 0; i < tn_model_warning_count(get()); ++i) messages.emplace_back(tn_model_warning(get(), i));
    return messages;
  }
  size_t input_count() const { return tn_model_input_count(get()); }
  std::string input_name(size_t i) const { return tn_model_input_name(get(), i); }
  TypeView input_type(size_t i) const { return TypeView(tn_model_input_type(get(), i)); }
  bool input_has_default(size_t i) const { return tn_model_input_has_default(get(), i) != 0; }
  size_t output_count() const { return tn_model_output_count(get()); }
  std::string output_name(size_t i) const { return tn_model_output_name(get(), i); }
  TypeView output_type(size_t i) const { return TypeView(tn_model_output_type(get(), i)); }

  // Fills the empty values with what the model accepts; options: seed, sizes, dim:NAME, shape:NAME.
  void fill_inputs(std::span<Value> inputs, const Options& options = {}) const {
    std::vector<tn_value*> handles;
    for (const Value& v : inputs) handles.push_back(v.get());
    detail::check(tn_model_random_inputs(get(), options.get(), handles.data(), handles.size()));
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!inputs[i] && handles[i]) inputs[i] = Value(handles[i]);
  }
  // Whether a value of this name is what it should be, by what the nodes that make it explain.
  tn_comparison compare(const std::string& name, const Value& actual, const Value& expected,
                        const Value& chosen_from = {}) const {
    tn_comparison comparison{};
    comparison.size = sizeof comparison;
    detail::check(tn_model_compare(get(), detail::c_text(name, "the name of a value"), actual.get(), expected.get(),
                                   chosen_from.get(), &comparison));
    return comparison;
  }
  tn_model* get() const { return handle_.get(); }

 private:
  friend class Build;
  explicit Model(tn_model* handle) : handle_(handle) {}
  detail::Owner<tn_model, tn_model_release> handle_;
};

// Where new weights come from: tensors by name.
class Source {
 public:
  // Tensors in memory.
  Source() : handle_(tn_source_create()) {}
  // An ONNX model, a .safetensors or .npz file, or a folder of the layout that the weights came from.
  static Source open(const std::string& path) {
    tn_source* source = nullptr;
    detail::check(tn_source_open(detail::c_text(path, "the path of weights"), &source));
    return Source(source);
  }
  Source& add(const std::string& name, const Value& value) {
    detail::check(tn_source_add(get(), detail::c_text(name, "the name of a weight"), value.get()));
    return *this;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < tn_source_count(get()); ++i) names.emplace_back(tn_source_name(get(), i));
    return names;
  }
  tn_source* get() const { return handle_.get(); }

 private:
  explicit Source(tn_source* handle) : handle_(handle) {}
  detail::Owner<tn_source, tn_source_release> handle_;
};

// The weights of a session at one moment. Copying shares them.
class Weights {
 public:
  explicit Weights(tn_weights* handle) : handle_(handle, tn_weights_release) {}
  const tn_weights* get() const { return handle_.get(); }

 private:
  std::shared_ptr<tn_weights> handle_;
};

class Artifact;

// A model ready to run. Any number of threads may run one session.
class Session {
 public:
  explicit Session(const Model& model, const Options& options = {}) : Session(nullptr, model, options) {}
  Session(const Context& context, const Model& model, const Options& options = {})
      : Session(context.get(), model, options) {}

  size_t input_count() const { return tn_session_input_count(get()); }
  std::string input_name(size_t i) const { return tn_session_input_name(get(), i); }
  TypeView input_type(size_t i) const { return TypeView(tn_session_input_type(get(), i)); }
  bool input_has_default(size_t i) const { return tn_session_input_has_default(get(), i) != 0; }
  size_t output_count() const { return tn_session_output_count(get()); }
  std::string output_name(size_t i) const { return tn_session_output_name(get(), i); }
  TypeView output_type(size_t i) const { return TypeView(tn_session_output_type(get(), i)); }
  // The node that computes an output; "" when it is an input or a weight.
  std::string output_node(size_t i) const { return tn_session_output_node(get(), i); }
  // Bytes of run memory.
  struct Memory {
    int64_t used, peak;
  };
  Memory memory() const {
    Memory memory{};
    tn_session_memory(get(), &memory.used, &memory.peak);
    return memory;
  }

  // One value per input; an empty Value takes the input's default.
  std::vector<Value> run(std::span<const Value> inputs, Run* run = nullptr) const {
    std::vector<Value> outputs(output_count());
    this->run(inputs, outputs, run);
    return outputs;
  }
  std::vector<Value> run(std::initializer_list<Value> inputs, Run* run = nullptr) const {
    return this->run(std::span<const Value>(inputs.begin(), inputs.size()), run);
  }
  // Outputs that hold a tensor are written in place, empty ones are allocated.
  void run(std::span<const Value> inputs, std::span<Value> outputs, Run* run = nullptr,
           const unsigned char* wanted = nullptr) const {
    std::vector<const tn_value*> in;
    std::vector<tn_value*> out;
    for (const Value& v : inputs) in.push_back(v.get());
    for (const Value& v : outputs) out.push_back(v.get());
    detail::check(
        tn_session_run(get(), run ? run->get() : nullptr, in.data(), in.size(), wanted, out.data(), out.size()));
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!outputs[i] && out[i]) outputs[i] = Value(out[i]);
  }

  // Takes new weights by name, also while others run the session; the report is JSON. With recompile=1, weights that
  // change the plan lead to a new one.
  std::string set_weights(const Source& source, const Options& options = {}) {
    char* report = nullptr;
    detail::check(tn_session_set_weights(get(), source.get(), options.get(), &report));
    return detail::take_text(report);
  }
  Weights weights() const {
    tn_weights* weights = nullptr;
    detail::check(tn_session_weights(get(), &weights));
    return Weights(weights);
  }
  // Weights of the same plan; no byte moves.
  void use_weights(const Weights& weights) { detail::check(tn_session_use_weights(get(), weights.get())); }
  tn_session* get() const { return handle_.get(); }

 private:
  friend class Artifact;
  explicit Session(tn_session* handle) : handle_(handle) {}
  Session(tn_context* context, const Model& model, const Options& options) {
    tn_session* session = nullptr;
    detail::check(tn_session_create(context, model.get(), options.get(), &session));
    handle_.reset(session);
  }
  detail::Owner<tn_session, tn_session_release> handle_;
};

// Several sessions that switch to new weights together; the report is a JSON list.
inline std::string set_weights(std::span<Session* const> sessions, const Source& source, const Options& options = {}) {
  std::vector<tn_session*> handles;
  for (const Session* session : sessions) handles.push_back(session->get());
  char* report = nullptr;
  detail::check(tn_sessions_set_weights(handles.data(), handles.size(), source.get(), options.get(), &report));
  return detail::take_text(report);
}

// Several sessions that switch to weights of their plans together.
inline void use_weights(std::span<Session* const> sessions, std::span<const Weights> weights) {
  if (sessions.size() != weights.size()) throw Error(TN_INVALID_ARGUMENT, "there must be weights for each session");
  std::vector<tn_session*> handles;
  std::vector<const tn_weights*> sets;
  for (const Session* session : sessions) handles.push_back(session->get());
  for (const Weights& set : weights) sets.push_back(set.get());
  detail::check(tn_sessions_use_weights(handles.data(), sets.data(), handles.size()));
}

// Whether a file is a compiled model, Tenon's or another program's.
inline bool is_context_file(const std::string& path) {
  int is_context = 0;
  detail::check(tn_is_context_file(detail::c_text(path, "the path of a model"), &is_context));
  return is_context != 0;
}
inline std::string describe_context_file(const std::string& path) {
  char* text = nullptr;
  detail::check(tn_context_file_describe(detail::c_text(path, "the path of a model"), &text));
  return detail::take_text(text);
}
// Gives the rest of a half-published group its names.
inline void complete_folder(const std::string& folder) {
  detail::check(tn_folder_complete(detail::c_text(folder, "the path of a folder")));
}
inline void note_validation(const std::string& path, const std::string& verdict) {
  detail::check(tn_context_file_note_validation(detail::c_text(path, "the path of a model"),
                                                detail::c_text(verdict, "a verdict")));
}
// Removes what interrupted publications left.
inline void tidy_folder(const std::string& folder, const std::string& weights_name) {
  detail::check(tn_folder_tidy(detail::c_text(folder, "the path of a folder"),
                               detail::c_text(weights_name, "the name of a weights file")));
}
// In libtenon only.
inline std::string compile_key(const Model& model, const Options& options = {}) {
  char* key = nullptr;
  detail::check(tn_compile_key(model.get(), options.get(), &key));
  return detail::take_text(key);
}

// Files that are written but not yet under their names; they go unless they are published.
class Publication {
 public:
  explicit Publication(tn_publication* handle) : handle_(handle) {}
  std::string path(size_t model) const { return tn_publication_path(handle_.get(), model); }
  std::string weights_name() const { return tn_publication_weights_name(handle_.get()); }
  int64_t weights_bytes() const { return tn_publication_weights_bytes(handle_.get()); }
  void publish() { detail::check(tn_publication_publish(handle_.get())); }

 private:
  detail::Owner<tn_publication, tn_publication_release> handle_;
};

// Compiled models with their weights. Immutable.
class Artifact {
 public:
  // In libtenon only.
  static Artifact compile(std::span<const std::pair<std::string, const Model*>> models, const Options& options = {},
                          const Context* context = nullptr) {
    std::vector<const tn_model*> handles;
    std::vector<const char*> names;
    for (const auto& [name, model] : models) {
      handles.push_back(model->get());
      names.push_back(detail::c_text(name, "the name of a model"));
    }
    return made([&](tn_artifact** a) {
      return tn_compile(handle_of(context), handles.data(), names.data(), handles.size(), options.get(), a);
    });
  }
  static Artifact compile(const std::string& name, const Model& model, const Options& options = {},
                          const Context* context = nullptr) {
    const std::pair<std::string, const Model*> one(name, &model);
    return compile(std::span(&one, 1), options, context);
  }
  // Context files that share one weights file.
  static Artifact load(std::span<const std::string> paths, const Options& options = {},
                       const Context* context = nullptr) {
    const std::vector<const char*> texts = detail::c_texts(paths, "the path of a model");
    return made([&](tn_artifact** a) {
      return tn_artifact_load(handle_of(context), texts.data(), texts.size(), options.get(), a);
    });
  }
  static Artifact load(const std::string& path, const Options& options = {}, const Context* context = nullptr) {
    return load(std::span(&path, 1), options, context);
  }
  // One context file in memory, which is copied. Its weights are embedded, or in the folder.
  static Artifact from_memory(std::string_view bytes, const std::string& folder = "", const Options& options = {},
                              const Context* context = nullptr) {
    return made([&](tn_artifact** a) {
      return tn_artifact_load_memory(handle_of(context), bytes.data(), bytes.size(),
                                     detail::c_text(folder, "the path of a folder"), options.get(), a);
    });
  }

  std::vector<std::string> models() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < tn_artifact_model_count(get()); ++i) names.emplace_back(tn_artifact_model_name(get(), i));
    return names;
  }
  // The number of the model of this name.
  size_t position(const std::string& model) const {
    std::string known;
    for (size_t i = 0; i < tn_artifact_model_count(get()); ++i) {
      const std::string name = tn_artifact_model_name(get(), i);
      if (name == model) return i;
      known += (i ? ", '" : "'") + name + "'";
    }
    throw Error(TN_NOT_FOUND, "the artifact has no model '" + model + "'; it has " + known);
  }
  std::string describe(const std::string& sections = "models") const {
    char* text = nullptr;
    detail::check(tn_artifact_describe(get(), detail::c_text(sections, "sections"), &text));
    return detail::take_text(text);
  }
  std::string verify() const {
    char* text = nullptr;
    detail::check(tn_artifact_verify(get(), &text));
    return detail::take_text(text);
  }
  // *report is one JSON object per model, in a list.
  Artifact bake(const Source& source, const Options& options = {}, std::string* report = nullptr,
                const Context* context = nullptr) const {
    char* text = nullptr;
    Artifact baked = made([&](tn_artifact** a) {
      return tn_artifact_bake(handle_of(context), get(), source.get(), options.get(), a, &text);
    });
    std::string taken = detail::take_text(text);
    if (report) *report = std::move(taken);
    return baked;
  }
  Artifact strip() const {
    return made([&](tn_artifact** a) { return tn_artifact_strip(get(), a); });
  }
  void export_sources(const std::string& path) const {
    detail::check(tn_artifact_export(get(), detail::c_text(path, "the path of weights")));
  }
  // Context files of these names, one per model and in their order, and one weights file in a folder.
  void save(const std::string& folder, std::span<const std::string> names, const Options& options = {}) const {
    const std::vector<const char*> texts = detail::c_texts(names, "the name of a file");
    detail::check(tn_artifact_save(get(), detail::c_text(folder, "the path of a folder"), texts.data(), texts.size(),
                                   options.get()));
  }
  // Files that have the names of the models: <model>_ctx.onnx. A template, so that `{}` goes on to mean no names.
  template <std::same_as<Options> Settings>
  void save(const std::string& folder, const Settings& options) const {
    std::vector<std::string> names = models();
    for (std::string& name : names) name += "_ctx.onnx";
    save(folder, names, options);
  }
  void save(const std::string& folder) const { save(folder, Options()); }
  // The same in two steps.
  Publication stage(const std::string& folder, std::span<const std::string> names, const Options& options = {}) const {
    const std::vector<const char*> texts = detail::c_texts(names, "the name of a file");
    tn_publication* publication = nullptr;
    detail::check(tn_artifact_stage(get(), detail::c_text(folder, "the path of a folder"), texts.data(), texts.size(),
                                    options.get(), &publication));
    return Publication(publication);
  }
  Session session(size_t model = 0, const Options& options = {}, const Context* context = nullptr) const {
    tn_session* session = nullptr;
    detail::check(tn_artifact_session(handle_of(context), get(), model, options.get(), &session));
    return Session(session);
  }
  Session session(const std::string& model, const Options& options = {}, const Context* context = nullptr) const {
    return session(position(model), options, context);
  }
  Weights weights(size_t model = 0) const {
    tn_weights* weights = nullptr;
    detail::check(tn_artifact_weights(get(), model, &weights));
    return Weights(weights);
  }
  Weights weights(const std::string& model) const { return weights(position(model)); }
  tn_artifact* get() const { return handle_.get(); }

 private:
  explicit Artifact(tn_artifact* handle) : handle_(handle) {}
  static tn_context* handle_of(const Context* context) { return context ? context->get() : nullptr; }
  template <class Make>
  static Artifact made(Make&& make) {
    tn_artifact* artifact = nullptr;
    detail::check(make(&artifact));
    return Artifact(artifact);
  }
  detail::Owner<tn_artifact, tn_artifact_release> handle_;
};

// Models to files, with names, groups, validation and a report; see tn_build_create for the options. In libtenon only.
//
//   tenon::Build build({{"output_dir", "out"}});
//   build.add("prefill.onnx").add("decode.onnx");
//   std::string report = build.run();
//
// Not movable: a listener may refer to it.
class Build {
 public:
  // The event, the number of the model or TN_BUILD_NO_MODEL, and the text. Must not throw.
  using Listener = std::function<void(tn_build_event, size_t, const std::string&)>;

  explicit Build(const Options& options = {}) {
    tn_build* build = nullptr;
    detail::check(tn_build_create(options.get(), &build));
    handle_.reset(build);
  }
  Build(const Build&) = delete;
  Build& operator=(const Build&) = delete;

  Build& add(const std::string& path, const Options& options = {}) {
    detail::check(tn_build_add_model(get(), detail::c_text(path, "the path of a model"), options.get()));
    return *this;
  }
  Build& listen(Listener listener) {
    listener_ = std::move(listener);
    detail::check(tn_build_listen(
        get(),
        [](void* user, tn_build_event event, size_t model, const char* text) {
          const auto& self = *static_cast<const Build*>(user);
          if (self.listener_) self.listener_(event, model, text);
        },
        this));
    return *this;
  }
  // The steps; each does what comes before it.
  void prepare() { detail::check(tn_build_prepare(get())); }
  void load() { detail::check(tn_build_load(get())); }
  // The report as JSON, also when models fail.
  std::string run() {
    char* report = nullptr;
    detail::check(tn_build_run(get(), &report));
    return detail::take_text(report);
  }
  // From any thread.
  void cancel() { tn_build_cancel(get()); }

  size_t size() const { return tn_build_model_count(get()); }
  // The path that the result of a model gets, once names are chosen.
  std::string output(size_t model) const { return tn_build_output(get(), model); }
  std::string status(size_t model) const { return tn_build_status(get(), model); }
  std::string error(size_t model) const { return tn_build_error(get(), model); }
  // Nothing when it has failed or was not loaded yet.
  std::optional<Model> model(size_t model) const {
    tn_model* loaded = nullptr;
    detail::check(tn_build_model(get(), model, &loaded));
    return loaded ? std::optional(Model(loaded)) : std::nullopt;
  }
  tn_build* get() const { return handle_.get(); }

 private:
  detail::Owner<tn_build, tn_build_release> handle_;
  Listener listener_;
};

// Compares a compiled model with the model it was made from; JSON, see tn_validate. In libtenon only, as the next ones.
inline std::string validate(const std::string& model, const std::string& context, const Options& options = {}) {
  char* text = nullptr;
  detail::check(tn_validate(detail::c_text(model, "the path of a model"),
                            detail::c_text(context, "the path of a model"), options.get(), &text));
  return detail::take_text(text);
}
// The report of a build as one HTML page.
inline std::string report_html(const std::string& report) {
  char* html = nullptr;
  detail::check(tn_build_report_html(detail::c_text(report, "a report"), &html));
  return detail::take_text(html);
}
inline std::string compilers_json() {
  char* text = nullptr;
  detail::check(tn_compilers_json(&text));
  return detail::take_text(text);
}

}  // namespace v0
}  // namespace tenon
