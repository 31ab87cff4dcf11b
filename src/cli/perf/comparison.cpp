#include "cli/perf/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/console.h"
#include "cli/failure.h"
#include "cli/models.h"
#include "cli/stopwatch.h"
#include "cli/text.h"

namespace cli {

namespace {

std::string make_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "tenon-perf-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw Failure(kFailed, fmt::format("no folder can be made in '{}'", name));
  return name;
}

double middle_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// How many times as long as the first one takes: by the least times, and the median over rounds.
struct Ratio {
  double least, pairs;
};
Ratio ratio_of(const Contender& contender, const Contender& first) {
  std::vector<double> pairs;
  for (size_t i = 0; i < std::min(contender.rounds.size(), first.rounds.size()); ++i)
    pairs.push_back(contender.rounds[i] / first.rounds[i]);
  return {contender.times.at(0) / first.times.at(0), middle_of(std::move(pairs))};
}

std::string result_text(const Contender& contender) {
  if (!contender.refusal.empty()) return "cannot run it: " + contender.refusal;
  for (const ComparedOutput& output : contender.outputs)
    if (const std::string text = output_result(output.json()); !text.starts_with("same"))
      return fmt::format("'{}': {}", output.name, text);
  return "same outputs";
}

}  // namespace

Comparison::Comparison(const std::vector<std::string>& engines, const Subject& subject, const Console& console)
    : folder_(make_folder()) {
  const auto run = [&session = subject.session, &inputs = subject.inputs](int64_t count) {
    std::vector<double> seconds(static_cast<size_t>(count));
    for (double& one : seconds) {
      const Stopwatch watch;
      session.run(inputs);
      one = watch.seconds();
    }
    return seconds;
  };
  contenders_.push_back({.engine = "tenon", .version = tenon::version(), .run = run});
  write_inputs(subject);
  const std::vector<tenon::Value> own = subject.session.run(subject.inputs);
  const Judge judge(subject.source, subject.context, -1, -1);
  for (const std::string& engine : engines) {
    console.progress(fmt::format("loading {} with {}", subject.source_path, engine));
    add_peer(engine, subject, judge, own);
  }
}

Comparison::~Comparison() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Comparison::write_inputs(const Subject& subject) const {
  std::vector<std::pair<std::string, tenon::Value>> arrays;
  for (size_t i = 0; i < subject.inputs.size(); ++i)
    if (subject.inputs[i]) arrays.emplace_back(subject.session.input_name(i), subject.inputs[i]);
  tenon::Npz::write(folder_ + "/inputs.npz", arrays);
}

void Comparison::add_peer(const std::string& engine, const Subject& subject, const Judge& judge,
                          const std::vector<tenon::Value>& own) {
  const Peer::Job job{subject.source_path, folder_ + "/inputs.npz", folder_, subject.context.threads()};
  auto peer = std::make_unique<Peer>(engine, job);
  Contender contender{.engine = engine, .version = peer->version()};
  contender.run = [&peer = *peer](int64_t count) { return peer.run(count); };
  try {
    const std::vector<tenon::Value> values = peer->open();
    for (size_t i = 0; i < own.size() && i < subject.source.output_count(); ++i) {
      const std::string name = subject.session.output_name(i);
      ComparedOutput& output = contender.outputs.emplace_back(ComparedOutput{name, own[i].type_text()});
      output.comparable = i < values.size();
      if (output.comparable) output.add(judge.compare(name, own[i], values[i], subject.inputs));
    }
  } catch (const PeerRefusal& refusal) {
    contender.refusal = refusal.what();
  }
  contenders_.push_back(std::move(contender));
  peers_.push_back(std::move(peer));
}

bool Comparison::agrees() const {
  return std::ranges::all_of(contenders_, [](const Contender& c) { return c.agrees() || !c.refusal.empty(); });
}

std::string Comparison::text() const {
  Table table({"engine", ">min", ">p50", ">times Tenon's min", ">of pairs", "result"});
  for (const Contender& contender : contenders_) {
    const std::string name = contender.engine + " " + contender.version;
    if (contender.times.empty()) {
      table.add({name, "-", "-", "-", "-", result_text(contender)});
      continue;
    }
    const Ratio ratio = ratio_of(contender, contenders_[0]);
    table.add({name, human_seconds(contender.times.at(0)), human_seconds(contender.times.at(0.5)),
               fmt::format("{:.2f}", ratio.least), fmt::format("{:.2f}", ratio.pairs),
               &contender == contenders_.data() ? "" : result_text(contender)});
  }
  return table.text();
}

Json Comparison::json() const {
  Json list(Json::Array{});
  for (const Contender& contender : contenders_) {
    Json entry = Json::Object{{"engine", contender.engine}, {"version", contender.version}};
    entry.set("agrees", contender.agrees());
    if (!contender.refusal.empty()) entry.set("message", contender.refusal);
    if (!contender.times.empty()) {
      const Ratio ratio = ratio_of(contender, contenders_[0]);
      entry.set("runs", static_cast<int64_t>(contender.times.size()));
      entry.set("seconds", contender.times.json());
      entry.set("ratio", Json::Object{{"min", ratio.least}, {"pairs", ratio.pairs}});
    }
    Json outputs(Json::Array{});
    for (const ComparedOutput& output : contender.outputs) outputs.push(output.json());
    entry.set("outputs", std::move(outputs));
    list.push(std::move(entry));
  }
  return list;
}

}  // namespace cli
