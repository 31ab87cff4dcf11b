#include "build/staged/staged_request.h"

#include "tenon/tenon.hpp"

namespace tenon::build {

namespace {

[[noreturn]] void reject(const std::string& message) { throw Error(TN_INVALID_ARGUMENT, message); }

}  // namespace

void throw_unless_ok(const Status& status) {
  if (!status.ok()) throw Error(static_cast<tn_code>(status.code()), status.to_string());
}

CapabilitySwitches switches_of(const ModelRequest& model, const BuildRequest& request) {
  CapabilitySwitches switches = model.capabilities;
  switches.insert(request.optimize.capabilities.begin(), request.optimize.capabilities.end());
  return switches;
}

CapabilityChoice choice_of(const CapabilitySwitches& switches) {
  std::vector<std::string> enable, disable;
  for (const auto& [name, on] : switches) (on ? enable : disable).push_back(name);
  auto choice = tenon::choose_capabilities(enable, disable);
  throw_unless_ok(choice.status());
  return std::move(*choice);
}

std::string optimized_file(const std::string& name) { return name + "_opt.onnx"; }

bool wants_optimized_files(const BuildRequest& request) {
  return request.staged.keep_optimized || !request.staged.compile;
}

void check_staged_request(const BuildRequest& request) {
  if (request.models.empty()) reject("no model is given");
  if (request.output_dir.empty()) reject("a build needs a folder; set the option 'output_dir'");
  if (!request.output.empty()) reject("the options 'output' and 'output_dir' cannot be used together");
  if (!request.staged.compile && !request.optimize.is_on)
    reject("without 'optimize' and without 'compile' there is nothing to do");
  if (request.staged.keep_optimized && !request.optimize.is_on) reject("the option 'keep_optimized' needs 'optimize'");
  if (request.staged.auto_enable && !request.optimize.is_on) reject("the option 'auto' needs 'optimize'");
  // Names that do not exist or do not go together.
  for (const ModelRequest& model : request.models) (void)choice_of(switches_of(model, request));
}

}  // namespace tenon::build
