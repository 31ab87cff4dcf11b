#pragma once

#include <string>

struct tn_model;

namespace tenon::build {

// Why a model that is compiled already is refused, with the model to name instead; "" for all others.
std::string refusal_of_compiled(const tn_model* model);

}  // namespace tenon::build
