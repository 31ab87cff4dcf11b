#include "artifact/verify_image.h"

#include <fmt/format.h>

#include <set>

#include "plan/property.h"
#include "plan/tensor_bytes.h"

namespace tenon {

namespace {

class ImageVerifier {
 public:
  ImageVerifier(const std::shared_ptr<const Image>& image, ThreadPool* pool)
      : image_(image), contents_(image->contents()), pool_(pool),
        arenas_(std::make_shared<MemoryBudget>(Limits().memory_bytes)) {}

  Result<ImageCheck> verify() {
    TN_RETURN_IF_ERROR(image_->verify_bytes());
    check_.packed = contents_.packed.size();
    for (const ModelRecord& model : contents_.models)
      TN_RETURN_IF_ERROR(verify_model(model).in("model '" + model.name + "'"));
    return check_;
  }

 private:
  Status verify_model(const ModelRecord& model) {
    const Program& program = *model.program;
    for (const Guard& guard : program.guards) {
      const SourceRecord& source = record(model, guard.source);
      const bool is_literal = guard.property == kLiteral;
      check_.guards += !is_literal;
      TN_ASSIGN_OR_RETURN(const bool holds, guard_holds(model, guard));
      if (!holds && is_literal) return invalid_model("a constant of the plan has changed since the model was compiled");
      if (!holds)
        return error(Code::GuardViolated,
                     "{} depends on the weight '{}' ({}), which has changed since the model was compiled", guard.asker,
                     source.info.name, guard.property);
    }
    TN_ASSIGN_OR_RETURN(const auto weights, WeightProgram::make(model.program));
    for (size_t slot = 0; slot < model.slots.size(); ++slot) {
      const int32_t packed = model.slots[slot];
      if (packed < 0 || !seen_.insert(packed).second) continue;
      Status status = verify_slot(model, *weights, slot, contents_.packed[static_cast<size_t>(packed)]);
      if (!status.ok()) return std::move(status).in(fmt::format("slot {}", slot));
    }
    return {};
  }

  // Also when nothing can be said because the elements are not there.
  Result<bool> guard_holds(const ModelRecord& model, const Guard& guard) const {
    const auto property = property_from_text(guard.property);
    if (!property) return error(Code::Internal, "unknown property '{}'", guard.property);
    if (property->is_about_elements()) return record(model, guard.source).content.hex() == guard.answer;
    const auto tensor = image_->source(static_cast<size_t>(model.sources[static_cast<size_t>(guard.source)]));
    return !tensor.ok() || answer_text(ask(*tensor, *property)) == guard.answer;
  }

  const SourceRecord& record(const ModelRecord& model, int32_t id) const {
    return contents_.sources[static_cast<size_t>(model.sources[static_cast<size_t>(id)])];
  }

  Status verify_slot(const ModelRecord& model, const WeightProgram& weights, size_t slot, const PackedRecord& packed) {
    std::vector<Value> inputs;
    for (const int32_t id : model.program->weight_program[slot].sources) {
      auto tensor = image_->source(static_cast<size_t>(model.sources[static_cast<size_t>(id)]));
      if (!tensor.ok()) {
        ++check_.without_sources;
        return {};
      }
      if (content_hash(*tensor) != record(model, id).content)
        return invalid_model("the values of the source '{}' have changed since the model was compiled",
                             record(model, id).info.name);
      inputs.emplace_back(std::move(*tensor));
    }
    Tensor result = *inputs[0].tensor();
    if (!weights.is_source(slot)) {
      TN_ASSIGN_OR_RETURN(result, Tensor::allocate(weights.dtype(slot), weights.dims(slot), nullptr));
      TN_RETURN_IF_ERROR(weights.compute(slot, inputs, result.view(), arenas_, pool_));
    }
    ++check_.recomputed;
    if (packed.content != Hash128() && content_hash(result) != packed.content)
      return invalid_model("the packed weight differs from the one its sources give");
    return {};
  }

  std::shared_ptr<const Image> image_;
  const ArtifactContents& contents_;
  ThreadPool* pool_;
  ArenaPool arenas_;
  std::set<int32_t> seen_;
  ImageCheck check_;
};

}  // namespace

Result<ImageCheck> verify_image(const std::shared_ptr<const Image>& image, ThreadPool* pool) {
  return ImageVerifier(image, pool).verify();
}

}  // namespace tenon
