#include "cli/perf/peer.h"

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/failure.h"
#include "cli/perf/peer_script.h"

namespace cli {

namespace {

constexpr const char* kPython = "python3";

std::vector<std::string> command_of(const std::string& engine, const Peer::Job& job, const std::string& outputs) {
  const Json request = Json::Object{
      {"engine", engine}, {"model", job.model}, {"threads", job.threads}, {"inputs", job.inputs}, {"outputs", outputs}};
  return {kPython, "-I", "-c", kPeerScript, request.dump()};
}

}  // namespace

std::string Peer::engine_of(const std::string& name) {
  if (name == "ort" || name == "onnxruntime") return "onnxruntime";
  return name == "openvino" ? name : "";
}

Peer::Peer(const std::string& engine, const Job& job)
    : engine_(engine), outputs_(job.folder + "/" + engine + ".npz"), child_(command_of(engine, job, outputs_)) {
  try {
    version_ = answer()["version"].text();
  } catch (const PeerRefusal& refusal) {
    throw Failure(kFailed, refusal.what());
  }
}

std::vector<tenon::Value> Peer::open() {
  ask(R"({"open": true})");
  const tenon::Npz archive(outputs_);
  std::vector<tenon::Value> values;
  for (size_t i = 0; i < archive.size(); ++i) values.push_back(archive.read(i));
  return values;
}

std::vector<double> Peer::run(int64_t count) {
  std::vector<double> seconds;
  const Json answered = ask(fmt::format(R"({{"runs": {}}})", count));
  for (const Json& one : answered["seconds"].items()) seconds.push_back(one.number());
  return seconds;
}

Json Peer::ask(const std::string& question) {
  child_.write_line(question);
  return answer();
}

Json Peer::answer() {
  const std::string line = child_.read_line();
  if (line.empty())
    throw PeerRefusal(fmt::format("'{}' ended before {} had run the model; is Python installed?", kPython, engine_));
  Json answered = Json::parse(line);
  if (const std::string& package = answered["missing"].text(); !package.empty())
    throw Failure(kFailed, fmt::format("--compare: the Python package '{0}' is not installed for '{1}'; install it "
                                       "with '{1} -m pip install {0}'",
                                       package, kPython));
  if (const std::string& error = answered["error"].text(); !error.empty()) throw PeerRefusal(error);
  return answered;
}

}  // namespace cli
