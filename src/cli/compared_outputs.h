#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/json.h"
#include "tenon/tenon.hpp"

namespace cli {

// One output over all sets of inputs.
struct ComparedOutput {
  std::string name, type;
  bool comparable = true;
  int64_t elements = 0, mismatches = 0, ties = 0, nan = 0;
  double max_abs = 0, max_rel = 0, cosine = 1, allowed_abs = 0;

  bool same() const { return comparable && mismatches == 0; }
  void add(const tn_comparison& comparison);
  Json json() const;
};

// "same", "different", or "inconclusive" when numbers are NaN in both or there are none.
std::string verdict_of(const std::vector<ComparedOutput>& outputs);

// The outputs of a model over sets of inputs. Sets that show nothing count only when there are no others.
class ComparedSets {
 public:
  explicit ComparedSets(std::vector<ComparedOutput> outputs) : shown_(outputs), nothing_(std::move(outputs)) {}
  // One comparison per output. Why the set shows nothing, or "".
  std::string add(const std::vector<tn_comparison>& comparisons);
  const std::vector<ComparedOutput>& outputs() const { return shows_something_ ? shown_ : nothing_; }

 private:
  std::vector<ComparedOutput> shown_, nothing_;
  bool shows_something_ = false;
};
// What is wrong, in a sentence; "" when all are the same.
std::string verdict_message(const std::vector<ComparedOutput>& outputs);
// "same", "3 of 8 differ, allowed 1e-06", ...: of one output as json() has it.
std::string output_result(const Json& output);

// Compares values of a model as every command does: by what the nodes explain, unless the caller has tolerances.
class Judge {
 public:
  // Both must outlive the judge. Negative: no tolerance of the caller's.
  Judge(const tenon::Model& model, const tenon::Context& context, double rtol, double atol);
  // `inputs` are those of the model, which may have to run again for a look at what indices were chosen from.
  tn_comparison compare(const std::string& name, const tenon::Value& got, const tenon::Value& wanted,
                        const std::vector<tenon::Value>& inputs) const;

 private:
  std::string chosen_from(const std::string& output) const;
  tenon::Value reference_value(const std::string& name, const std::vector<tenon::Value>& inputs) const;

  const tenon::Model& model_;
  const tenon::Context& context_;
  double rtol_, atol_;
  Json tolerances_;
};

}  // namespace cli
