// What a run costs beside its arithmetic: nanoseconds per run of the models given as arguments, through the C
// interface, with buffers of the caller for inputs and outputs. Prints one line "path nanoseconds" each: the fastest of
// many batches, as the others measure the neighbours.
#include <tenon/tenon.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

namespace {

tenon::Value filled(const tenon::TypeView& type, bool ones) {
  tenon::Value value = tenon::Value::allocate(type.dtype(), type.dims().value());
  std::fill_n(static_cast<unsigned char*>(value.raw()), value.bytes(), static_cast<unsigned char>(ones ? 1 : 0));
  return value;
}

double nanoseconds(const tenon::Session& session) {
  std::vector<tenon::Value> inputs, outputs;
  for (size_t i = 0; i < session.input_count(); ++i) inputs.push_back(filled(session.input_type(i), true));
  for (size_t i = 0; i < session.output_count(); ++i) outputs.push_back(filled(session.output_type(i), false));
  std::vector<const tn_value*> in;
  std::vector<tn_value*> out;
  for (const tenon::Value& v : inputs) in.push_back(v.get());
  for (const tenon::Value& v : outputs) out.push_back(v.get());
  const auto run = [&] {
    if (tn_status* status =
            tn_session_run(session.get(), nullptr, in.data(), in.size(), nullptr, out.data(), out.size())) {
      std::fprintf(stderr, "%s\n", tn_status_message(status));
      std::exit(1);
    }
  };
  using Clock = std::chrono::steady_clock;
  const auto passed = [](Clock::time_point since) {
    return std::chrono::duration<double, std::nano>(Clock::now() - since).count();
  };
  int64_t batch = 1;
  for (double time = 0; time < 1e6; batch *= 2) {
    const auto start = Clock::now();
    for (int64_t i = 0; i < batch; ++i) run();
    time = passed(start);
  }
  double least = std::numeric_limits<double>::max();
  for (int repeat = 0; repeat < 200; ++repeat) {
    const auto start = Clock::now();
    for (int64_t i = 0; i < batch; ++i) run();
    least = std::min(least, passed(start) / static_cast<double>(batch));
  }
  return least;
}

}  // namespace

int main(int count, char** paths) try {
  for (int i = 1; i < count; ++i) {
    tenon::Options options;
    if (const char* threads = std::getenv("TENON_BENCH_THREADS")) options.set("threads", threads);
    const tenon::Session session(tenon::Model::load(paths[i]), options);
    std::printf("%s %.1f\n", paths[i], nanoseconds(session));
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
