#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/float_environment.h"
#include "runtime/session.h"
#include "tenon/tenon.h"
#include "tensor/compare.h"

// What the opaque handles of tenon.h are.

struct tn_status {
  tn_code code;
  std::string message;
};

struct tn_options {
  std::map<std::string, std::string> values;
  std::map<std::string, tenon::Value> weights;
  std::map<std::string, std::string_view> files;
};

namespace tenon::api {
// The best instruction set of this machine, or the one that TENON_CPU_ISA names.
Isa default_isa();
}  // namespace tenon::api

struct tn_context {
  tenon::Limits limits;
  int threads = 0;                             // 0: what the CPU quota allows
  tenon::Isa isa = tenon::api::default_isa();  // the best that kernels may use
  // Below: see context_pool().
  std::mutex pool_mutex;
  bool pool_made = false;
  uint64_t forks = 0;  // when it was made
  std::shared_ptr<tenon::ThreadPool> pool;
};

struct tn_value {
  tenon::Value value;
};

// A type with the texts that accessors return.
struct tn_type {
  tenon::Type type;
  std::string text;
  std::vector<std::string> dim_texts;
  std::vector<std::string> dim_names;  // "" for what is not exactly a name of the model's
  std::unique_ptr<tn_type> element;
  explicit tn_type(const tenon::Type& type);
};

struct tn_session {
  using Types = std::vector<std::unique_ptr<tn_type>>;
  std::unique_ptr<tenon::Session> session;
  // Gives extents the names that users know; may be null.
  std::function<void(const Types& inputs, const Types& outputs)> name_extents;
  Types input_types;
  struct Outputs {
    Types types;
    std::vector<std::string> nodes;
  };
  // By plan, the current one last: callers may hold what they were told of earlier ones.
  std::list<Outputs> outputs;
  mutable std::mutex outputs_mutex;
};

struct tn_run {
  std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
  tenon::StopQuestion stop;
  bool profile = false;
  std::vector<tenon::StepTime> steps;
};

namespace tenon::api {

// The context itself, or the default one for NULL.
tn_context& context_or_default(tn_context* context);
// Its threads, made when something first runs there; null when the caller's is the only one.
std::shared_ptr<ThreadPool> context_pool(tn_context* context);
tn_session* make_session_handle(std::unique_ptr<Session> session,
                                decltype(tn_session::name_extents) name_extents = nullptr);
// Tells callers what a plan that was made again gives.
void describe_outputs(tn_session& handle);
std::unique_ptr<tn_type> make_type_handle(const Type& type);

// For callers that know more fields than this library or fewer.
Status check_size(const tn_comparison& comparison);
void fill(const Comparison& result, int64_t ties, tn_comparison& comparison);

// A status handle, or NULL for ok.
tn_status* to_handle(const Status& status);
char* copy_text(std::string_view text);

// Runs f and turns whatever comes out of it, exceptions included, into a status handle. What f computes does not depend
// on the floating-point environment that the caller's thread has.
template <class F>
tn_status* guarded(F&& f) {
  const DefaultFloatEnvironment environment;
  try {
    return to_handle(f());
  } catch (const std::bad_alloc&) {
    return to_handle(error(Code::ResourceLimit, "out of memory"));
  } catch (const std::exception& e) {
    return to_handle(error(Code::Internal, "unexpected exception: {}", e.what()));
  } catch (...) {
    return to_handle(error(Code::Internal, "unexpected exception"));
  }
}

// Reads options by key; what nobody reads is an error.
class OptionReader {
 public:
  explicit OptionReader(const tn_options* options) : options_(options) {}
  void integer(const std::string& key, int64_t& value, int64_t minimum);
  void boolean(const std::string& key, bool& value);
  void text(const std::string& key, std::string& value);
  void isa(const std::string& key, Isa& value);  // "": as it is
  // Every "prefix:NAME" with an integer value.
  void integers_by_name(const std::string& prefix, std::map<std::string, int64_t>& values);
  // Every "prefix:NAME" as it is.
  void texts_by_name(const std::string& prefix, std::map<std::string, std::string>& values);
  // Every "prefix:NAME" with a list of integers: "1,3,224,224", or "" for none.
  void integer_lists_by_name(const std::string& prefix, std::map<std::string, std::vector<int64_t>>& values);
  // The first wrong value, or the first unknown key with the nearest known one.
  Status finish();

 private:
  const std::string* find(const std::string& key);
  const tn_options* options_;
  std::vector<std::string> known_;
  std::vector<std::string> prefixes_;
  Status status_;
};

// The option closest in spelling, for messages; "" when none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& choices);

}  // namespace tenon::api
