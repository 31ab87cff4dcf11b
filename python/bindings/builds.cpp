// Builds: models to files. The library works in a thread of its own, so that Ctrl-C is heard at any moment.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "bindings.h"

namespace nb = nanobind;

namespace {

using Settings = std::map<std::string, std::string>;

tenon::Options to_options(const Settings& settings) {
  tenon::Options options;
  for (const auto& [key, value] : settings) options.set(key, value);
  return options;
}

constexpr const char* kEvents[] = {"progress", "warning", "detail"};

// One build that a Python program waits for.
class WaitedBuild {
 public:
  WaitedBuild(const Settings& settings, nb::object listener)
      : build_(to_options(settings)), listener_(std::move(listener)) {}

  void add(const std::string& path, const Settings& settings) { build_.add(path, to_options(settings)); }

  // With the interpreter's lock.
  std::string run() {
    if (!listener_.is_none())
      build_.listen([this](tn_build_event event, size_t model, const std::string& text) { tell(event, model, text); });
    bool interrupted = false;
    alone([&] {
      std::jthread worker([this] { work(); });
      std::unique_lock lock(mutex_);
      while (!changed_.wait_for(lock, std::chrono::milliseconds(50), [this] { return is_done_; })) {
        lock.unlock();
        if (!interrupted && has_signal()) {
          interrupted = true;
          build_.cancel();
        }
        lock.lock();
      }
    });
    if (interrupted) throw nb::python_error();
    if (failure_) std::rethrow_exception(failure_);
    return report_;
  }

 private:
  void work() {
    std::exception_ptr problem;
    try {
      report_ = build_.run();
    } catch (...) {
      problem = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    // What the listener raised made the build end.
    if (!failure_) failure_ = problem;
    is_done_ = true;
    changed_.notify_all();
  }

  void tell(tn_build_event event, size_t model, const std::string& text) {
    const WithLock locked;
    try {
      nb::object number = model == TN_BUILD_NO_MODEL ? nb::none() : nb::object(nb::int_(model));
      listener_(kEvents[event], number, decoded(text));
    } catch (const nb::python_error&) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      build_.cancel();
    }
  }

  tenon::Build build_;
  nb::object listener_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
  std::exception_ptr failure_;
  std::string report_;
};

std::string build(const std::vector<std::string>& paths, const std::vector<Settings>& models, const Settings& settings,
                  nb::object listener) {
  WaitedBuild waited(settings, std::move(listener));
  for (size_t i = 0; i < paths.size(); ++i) waited.add(paths[i], models.at(i));
  return waited.run();
}

}  // namespace

void bind_builds(nb::module_& m) {
  m.def("build", &build, nb::arg("paths"), nb::arg("models"), nb::arg("options"), nb::arg("listener").none());
  m.def("report_html", [](const std::string& report) { return alone([&] { return tenon::report_html(report); }); });
  m.def("compilers_json", [] { return alone([] { return tenon::compilers_json(); }); });
}
