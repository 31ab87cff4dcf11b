#include "cli/trace.h"

namespace cli {

std::string trace_of(const Json& steps) {
  // As "complete" events of the trace event format.
  Json events(Json::Array{});
  for (const Json& step : steps.items()) {
    Json details = Json::Object{{"kernel", step["kernel"]}, {"variant", step["variant"]}, {"dims", step["dims"]}};
    details.set("flops", step["flops"]);
    details.set("bytes", step["bytes"]);
    events.push(Json::Object{{"name", step["name"]},
                             {"cat", step["kernel"]},
                             {"ph", "X"},
                             {"ts", step["start_us"]},
                             {"dur", step["duration_us"]},
                             {"pid", 1},
                             {"tid", 1},
                             {"args", std::move(details)}});
  }
  return Json(Json::Object{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}).dump() + "\n";
}

}  // namespace cli
