#pragma once

#include <string>
#include <string_view>

#include "base/hash.h"
#include "plan/plan.h"
#include "wire/onnx_build.h"
#include "wire/onnx_model.h"

// The ONNX model that stands for a compiled one: the inputs, outputs and metadata of its source around one EPContext
// node, which names the plan and the weights file.
namespace tenon {

struct ContextNode {
  bool embedded = false;
  // Of the weights file: its name relative to the context model, or its bytes when they are embedded.
  std::string_view file_name, payload;
  Hash128 plan_key;               // which model of the weights file, together with
  std::string_view model_name;    // its name there
  Hash128 content_id;             // of the weights file
  std::string_view version;       // of Tenon
  std::string_view architecture;  // that can run it
  std::string_view source_model;  // file name of the model that was compiled
};

// What artifacts are made for: every such machine runs them.
inline constexpr std::string_view kAnyLittleEndian = "little-endian";

// The context model of `source`. It refers to strings of the source, of `builder` and to the payload, which must
// outlive it. Inputs that the plan does not take, because their initializers became weights, are left out.
Result<wire::Model> make_context_model(const wire::Model& source, const Plan& plan, const ContextNode& context,
                                       wire::MessageBuilder& builder);

// Whether a model holds an EPContext node, of whomever.
bool is_context_model(const wire::Model& model);
// An error for such a model, which says from what it was made: for whoever needs that instead.
Status check_not_compiled(const wire::Model& model);
// The context node of a model that make_context_model made; views into the model's bytes. Unsupported when another
// program made it, InvalidModel when it is damaged.
Result<ContextNode> read_context_model(const wire::Model& model);
// The word that note_validation put into a context model; "" when there is none.
std::string_view noted_validation(const wire::Model& model);
// Puts such a word into the metadata of a context model; strings live with the builder.
void note_validation(wire::Model& model, std::string_view verdict, wire::MessageBuilder& builder);
// Whether model and plan have the same inputs (names and types) and outputs (names), in order.
Status check_signature(const wire::Model& model, const Plan& plan);

}  // namespace tenon
