#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "build/json.h"
#include "build/request.h"

struct tn_model;

namespace tenon::build {

class Compiler;

// A build on its way: prepare, load, run, each of which does what comes before it if nobody has. One thread at a time,
// but for cancel().
class Build {
 public:
  explicit Build(BuildRequest request);
  // With this compiler, whatever the request names.
  Build(BuildRequest request, std::unique_ptr<Compiler> compiler);
  ~Build();
  Build(const Build&) = delete;
  Build& operator=(const Build&) = delete;

  // Both: before prepare().
  Status add(ModelRequest model);
  Status listen(Listener listener);

  // Checks the request, chooses names and finds the compiler; nothing is read or written.
  Status prepare();
  // Reads the models. One that cannot be read is no error here but a failed model of the report.
  Status load();
  // Compiles, tries and publishes. The report as JSON, also when models fail. Once.
  Result<std::string> run();
  // From any thread: run() ends soon with Cancelled, and nothing is published that was not before.
  void cancel();

  size_t model_count() const;
  // After prepare(): the path that the result of a model gets.
  const std::string& output(size_t model) const;
  // After load(): the model, or null when it has failed. Lives as long as it has not failed.
  const tn_model* model(size_t model) const;
  // "waiting" or, after run(), the status and the error of a model; "" when it has none.
  const char* status(size_t model) const;
  const std::string& error(size_t model) const;
  // After load(): what the passes did to a model, as JSON; null when they did not run.
  Json optimize_report(size_t model) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

// The report of a build as one page that needs nothing else.
Result<std::string> html_of_report(const std::string& report);

// Every compiler that can be chosen, probed at the moment of the call: a JSON list of {name, alias, description,
// usable, reason}; alias and reason may be null.
std::string compilers_json();

}  // namespace tenon::build
