#include <algorithm>
#include <charconv>
#include <utility>

#include "base/cpu.h"
#include "base/fork.h"
#include "runtime/api/handles.h"

using namespace tenon;

namespace tenon::api {

std::string nearest(const std::string& word, const std::vector<std::string>& choices) {
  std::string best;
  size_t best_distance = std::max<size_t>(2, word.size() / 2) + 1;
  for (const std::string& choice : choices) {
    // Edit distance, one row at a time.
    std::vector<size_t> row(choice.size() + 1);
    for (size_t j = 0; j <= choice.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= choice.size(); ++j) {
        const size_t above = row[j];
        row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (word[i - 1] != choice[j - 1])});
        diagonal = above;
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = choice;
    }
  }
  return best;
}

namespace {
bool parse_integer(const std::string& text, int64_t& value) {
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size();
}
}  // namespace

const std::string* OptionReader::find(const std::string& key) {
  known_.push_back(key);
  if (!options_) return nullptr;
  auto it = options_->values.find(key);
  return it == options_->values.end() ? nullptr : &it->second;
}

void OptionReader::integer(const std::string& key, int64_t& value, int64_t minimum) {
  const std::string* text = find(key);
  if (!text) return;
  int64_t number = 0;
  if (!parse_integer(*text, number) || number < minimum) {
    if (status_.ok())
      status_ = invalid_argument("option '{}' must be an integer of at least {}, but it is '{}'", key, minimum, *text);
    return;
  }
  value = number;
}

void OptionReader::boolean(const std::string& key, bool& value) {
  const std::string* text = find(key);
  if (!text) return;
  if (*text == "1" || *text == "true")
    value = true;
  else if (*text == "0" || *text == "false")
    value = false;
  else if (status_.ok())
    status_ = invalid_argument("option '{}' must be 1 or 0, but it is '{}'", key, *text);
}

void OptionReader::text(const std::string& key, std::string& value) {
  if (const std::string* text = find(key)) value = *text;
}

void OptionReader::isa(const std::string& key, Isa& value) {
  const std::string* text = find(key);
  if (!text || text->empty()) return;
  const auto isa = isa_of_name(*text);
  if (isa.ok())
    value = *isa;
  else if (status_.ok())
    status_ = Status(isa.status()).in(fmt::format("option '{}'", key));
}

void OptionReader::integers_by_name(const std::string& prefix, std::map<std::string, int64_t>& values) {
  prefixes_.push_back(prefix + ":");
  if (!options_) return;
  for (const auto& [key, text] : options_->values) {
    if (!key.starts_with(prefix + ":")) continue;
    int64_t number = 0;
    if (!parse_integer(text, number) || number < 0) {
      if (status_.ok())
        status_ = invalid_argument("option '{}' must be a non-negative integer, but it is '{}'", key, text);
      return;
    }
    values[key.substr(prefix.size() + 1)] = number;
  }
}

void OptionReader::texts_by_name(const std::string& prefix, std::map<std::string, std::string>& values) {
  prefixes_.push_back(prefix + ":");
  if (!options_) return;
  for (const auto& [key, text] : options_->values)
    if (key.starts_with(prefix + ":")) values[key.substr(prefix.size() + 1)] = text;
}

void OptionReader::integer_lists_by_name(const std::string& prefix,
                                         std::map<std::string, std::vector<int64_t>>& values) {
  prefixes_.push_back(prefix + ":");
  if (!options_) return;
  for (const auto& [key, text] : options_->values) {
    if (!key.starts_with(prefix + ":")) continue;
    std::vector<int64_t>& list = values[key.substr(prefix.size() + 1)];
    for (size_t start = 0; start < text.size() || (start == text.size() && start > 0);) {
      const size_t comma = std::min(text.find(',', start), text.size());
      int64_t number = 0;
      if (!parse_integer(text.substr(start, comma - start), number) || number < 0) {
        if (status_.ok())
          status_ = invalid_argument(
              "option '{}' must be a list of non-negative integers separated by commas, but it is '{}'", key, text);
        return;
      }
      list.push_back(number);
      start = comma + 1;
    }
  }
}

Status OptionReader::finish() {
  TN_RETURN_IF_ERROR(status_);
  if (!options_) return {};
  for (const auto& [key, value] : options_->values) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    if (std::any_of(prefixes_.begin(), prefixes_.end(), [&](const auto& p) { return key.starts_with(p); })) continue;
    const std::string near = nearest(key, known_);
    return invalid_argument("unknown option '{}'{}", key, near.empty() ? "" : "; did you mean '" + near + "'?");
  }
  return {};
}

Isa default_isa() {
  static const Isa chosen = [] {
    // To try what other machines do. A wrong name is ignored: there is nobody to tell.
    const char* name = std::getenv("TENON_CPU_ISA");
    const auto isa = name ? isa_of_name(name) : Result<Isa>(usable_isas().front());
    return isa.ok() ? *isa : usable_isas().front();
  }();
  return chosen;
}

tn_context& context_or_default(tn_context* context) {
  // Lives as long as the process: sessions may run while static objects go.
  static auto* const shared = new tn_context();
  return context ? *context : *shared;
}

std::shared_ptr<ThreadPool> context_pool(tn_context* context) {
  tn_context& chosen = context_or_default(context);
  const std::lock_guard lock(chosen.pool_mutex);
  if (chosen.forks != fork_count()) {
    // Its threads stayed in the parent, so that nobody could wait for their end.
    if (chosen.pool) new std::shared_ptr<ThreadPool>(std::move(chosen.pool));
    chosen.pool = nullptr;
    chosen.pool_made = false;
    chosen.forks = fork_count();
  }
  if (!std::exchange(chosen.pool_made, true))
    if (const int wanted = tn_context_threads(&chosen); wanted > 1)
      chosen.pool = std::make_shared<ThreadPool>(wanted - 1);
  return chosen.pool;
}

}  // namespace tenon::api

extern "C" {

tn_options* tn_options_create(void) { return new (std::nothrow) tn_options(); }
void tn_options_release(tn_options* options) { delete options; }

tn_status* tn_options_set(tn_options* options, const char* key, const char* value) {
  return api::guarded([&]() -> Status {
    if (!options || !key || !value) return invalid_argument("options, key and value must not be NULL");
    options->values[key] = value;
    return {};
  });
}

tn_status* tn_options_set_weight(tn_options* options, const char* name, const tn_value* value) {
  return api::guarded([&]() -> Status {
    if (!options || !name || !value) return invalid_argument("options, name and value must not be NULL");
    if (!value->value.tensor()) return invalid_argument("the weight '{}' must be a tensor", name);
    options->weights[name] = value->value;
    return {};
  });
}

tn_status* tn_options_add_file(tn_options* options, const char* name, const void* data, size_t size) {
  return api::guarded([&]() -> Status {
    if (!options || !name || (!data && size)) return invalid_argument("options, name and data must not be NULL");
    options->files[name] = {static_cast<const char*>(data), size};
    return {};
  });
}

tn_status* tn_context_create(const tn_options* options, tn_context** context) {
  return api::guarded([&]() -> Status {
    if (!context) return invalid_argument("context must not be NULL");
    auto made = std::make_unique<tn_context>();
    int64_t threads = 0;
    api::OptionReader reader(options);
    reader.integer("threads", threads, 0);
    reader.integer("memory_limit", made->limits.memory_bytes, 1);
    reader.integer("loop_limit", made->limits.loop_iterations, 1);
    reader.isa("cpu_isa", made->isa);
    TN_RETURN_IF_ERROR(reader.finish());
    constexpr int64_t kMaxThreads = 1024;
    if (threads > kMaxThreads)
      return invalid_argument("option 'threads' must be at most {}, but it is {}", kMaxThreads, threads);
    made->threads = static_cast<int>(threads);
    *context = made.release();
    return {};
  });
}
void tn_context_release(tn_context* context) { delete context; }
int tn_context_threads(const tn_context* context) {
  if (context && context->threads > 0) return context->threads;
  return std::max(1, static_cast<int>(cpu_info().quota));
}

}  // extern "C"
