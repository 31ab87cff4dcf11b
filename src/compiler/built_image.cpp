#include "compiler/built_image.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>

#include "artifact/record_order.h"
#include "base/folder.h"
#include "compiler/recompile.h"
#include "plan/fixed_sources.h"
#include "plan/keys.h"

namespace tenon {

namespace {

// Where a packed tensor comes from.
struct Recipe {
  size_t model = 0, slot = 0;
};

class BuiltImage final : public Image {
 public:
  BuiltImage(std::vector<ModelToBuild> models, const BuildOptions& options)
      : models_(std::move(models)), options_(options), budget_(std::make_shared<MemoryBudget>(Limits().memory_bytes)),
        packing_time_(models_.size()) {}

  Status build() {
    for (ModelToBuild& model : models_) {
      TN_ASSIGN_OR_RETURN(auto program, WeightProgram::make(model.compiled.program));
      programs_.push_back(std::move(program));
      TN_RETURN_IF_ERROR(add_model(model).in(model.model->path));
    }
    place_sources();
    put_in_order();
    contents_.made_by = "tenon " TENON_VERSION;
    return {};
  }

  std::string where() const override { return models_[0].model->path.empty() ? "memory" : models_[0].model->path; }
  const ArtifactContents& contents() const override { return contents_; }
  const wire::Model& face(size_t model) const override { return models_[model].model->wire; }
  std::string source_file(size_t model) const override { return file_name_of(models_[model].model->path); }

  Recompile recompile(size_t model) const override {
    return recompile_with(models_[model].model, models_[model].options);
  }

  Result<Tensor> packed(size_t index) const override {
    const auto start = std::chrono::steady_clock::now();
    const Recipe& recipe = recipes_[index];
    auto tensor = compute(recipe);
    packing_time_[recipe.model] += (std::chrono::steady_clock::now() - start).count();
    return tensor;
  }
  double seconds_spent(size_t model) const override {
    const std::chrono::steady_clock::duration packing(packing_time_[model]);
    return models_[model].seconds + std::chrono::duration<double>(packing).count();
  }
  Result<Tensor> source(size_t index) const override {
    if (contents_.sources[index].place == SourceRecord::Place::Absent) return not_kept(contents_.sources[index]);
    const auto& [model, id] = source_makers_[index];
    return constant(model, id);
  }

 private:
  Result<Tensor> compute(const Recipe& recipe) const {
    const WeightProgram& program = *programs_[recipe.model];
    const WeightEntry& entry = program.program().weight_program[recipe.slot];
    std::vector<Value> inputs;
    for (const int32_t id : entry.sources) {
      TN_ASSIGN_OR_RETURN(Tensor tensor, constant(recipe.model, id));
      inputs.emplace_back(std::move(tensor));
    }
    if (program.is_source(recipe.slot)) return *inputs[0].tensor();
    TN_ASSIGN_OR_RETURN(Tensor memory, spare_->take(program.dtype(recipe.slot), program.dims(recipe.slot)));
    ArenaPool arenas(budget_);
    TN_RETURN_IF_ERROR(program.compute(recipe.slot, inputs, memory.view(), arenas, options_.pool.get()));
    return memory;
  }

  Result<Tensor> constant(size_t model, int32_t id) const {
    const Constant& constant = models_[model].compiled.sources[static_cast<size_t>(id)];
    auto tensor = constant.value();
    if (!tensor.ok()) return std::move(tensor).status().in("weight '" + constant.source + "'");
    return tensor;
  }

  // True for weights that a complete set has. The values of Constant nodes are there whatever becomes of these.
  static std::vector<bool> open_sources(const Program& program) {
    std::vector<bool> open = fixed_sources(program);
    for (size_t i = 0; i < open.size(); ++i) open[i] = !open[i] && program.sources[i].expected;
    return open;
  }

  Status add_model(ModelToBuild& model) {
    const Program& program = *model.compiled.program;
    const size_t number = contents_.models.size();
    ModelRecord record;
    record.name = model.name;
    record.program = model.compiled.program;
    record.plan_key = plan_key(program);
    record.source_content = model.content->of_file();
    record.made_from = model.made_from;
    const std::vector<bool> fixed = fixed_sources(program), open = open_sources(program);
    TN_ASSIGN_OR_RETURN(const auto hashes, content_hashes(model, open));
    for (size_t i = 0; i < program.sources.size(); ++i)
      record.sources.push_back(add_source(number, i, program.sources[i], hashes[i], fixed[i]));
    for (size_t slot = 0; slot < program.weight_program.size(); ++slot) {
      const WeightEntry& entry = program.weight_program[slot];
      const bool waits = options_.defer_weights &&
                         std::ranges::any_of(entry.sources, [&](int32_t id) { return open[static_cast<size_t>(id)]; });
      record.slots.push_back(waits ? -1 : add_packed(number, slot, entry, packed_key(program, entry, hashes)));
      if (!entry.expression && !waits)
        identical_[static_cast<size_t>(record.sources[static_cast<size_t>(entry.sources[0])])] = record.slots.back();
    }
    contents_.models.push_back(std::move(record));
    return {};
  }

  // Reads every weight that was not read before, several at a time.
  Result<std::vector<Hash128>> content_hashes(const ModelToBuild& model, const std::vector<bool>& open) const {
    std::vector<Hash128> hashes(model.compiled.sources.size());
    std::vector<Status> outcomes(hashes.size());
    const auto hash_one = [&](int64_t i) {
      const auto index = static_cast<size_t>(i);
      if (options_.defer_weights && open[index]) return;
      const Constant& constant = model.compiled.sources[index];
      const auto hash = model.content->of(constant);
      if (hash.ok())
        hashes[index] = *hash;
      else
        outcomes[index] = Status(hash.status()).in("weight '" + constant.source + "'");
    };
    if (options_.pool)
      options_.pool->parallel_for(static_cast<int64_t>(hashes.size()), hash_one);
    else
      for (size_t i = 0; i < hashes.size(); ++i) hash_one(static_cast<int64_t>(i));
    for (Status& status : outcomes) TN_RETURN_IF_ERROR(std::move(status));
    return hashes;
  }

  int32_t add_packed(size_t model, size_t slot, const WeightEntry& entry, const Hash128& key) {
    const auto [it, is_new] = packed_by_key_.emplace(key, static_cast<int32_t>(contents_.packed.size()));
    if (!is_new) return it->second;
    PackedRecord record;
    record.key = key;
    record.dtype = programs_[model]->dtype(slot);
    record.dims = programs_[model]->dims(slot);
    record.layout = entry.layout;
    contents_.packed.push_back(std::move(record));
    recipes_.push_back({model, slot});
    return it->second;
  }

  int32_t add_source(size_t model, size_t id, const SourceInfo& info, const Hash128& content, bool fixed) {
    SourceRecord record;
    record.info = info;
    record.info.expected = true;
    record.content = content;
    const Constant& constant = models_[model].compiled.sources[id];
    record.place = fixed ? SourceRecord::Place::Embedded : place_of_open(info, constant.place.has_value());
    if (constant.place) set_file_place(record, *constant.place);
    const auto key =
        std::make_tuple(info.name, info.dtype, info.dims, content, record.place, record.file, record.file_offset);
    const auto [it, is_new] = sources_by_key_.emplace(key, static_cast<int32_t>(contents_.sources.size()));
    if (is_new) {
      contents_.sources.push_back(std::move(record));
      source_makers_.emplace_back(model, static_cast<int32_t>(id));
      identical_.push_back(-1);
    }
    return it->second;
  }

  SourceRecord::Place place_of_open(const SourceInfo& info, bool lies_in_file) const {
    using Place = SourceRecord::Place;
    // What a complete set of weights does not have must be there when one comes.
    if (options_.sources == KeepSources::None || options_.defer_weights)
      return info.expected ? Place::Absent : Place::Embedded;
    return options_.sources == KeepSources::Embed || !lies_in_file ? Place::Embedded : Place::InFile;
  }

  template <class T>
  static void reorder(std::vector<T>& items, const std::vector<size_t>& order) {
    std::vector<T> result;
    for (const size_t i : order) result.push_back(std::move(items[i]));
    items = std::move(result);
  }
  void put_in_order() {
    const RecordOrder order = order_records(contents_);
    reorder(recipes_, order.packed_from);
    reorder(source_makers_, order.sources_from);
  }

  // A source that is packed as it is needs no second place.
  void place_sources() {
    for (size_t i = 0; i < contents_.sources.size(); ++i) {
      SourceRecord& record = contents_.sources[i];
      if (identical_[i] < 0) continue;
      record.place = SourceRecord::Place::Packed;
      record.packed = identical_[i];
    }
  }

  std::vector<ModelToBuild> models_;
  BuildOptions options_;
  std::shared_ptr<MemoryBudget> budget_;
  std::shared_ptr<SpareBuffers> spare_ = SpareBuffers::make();
  std::vector<std::unique_ptr<const WeightProgram>> programs_;
  ArtifactContents contents_;
  mutable std::deque<std::atomic<int64_t>> packing_time_;  // by model, in ticks of the steady clock
  std::vector<Recipe> recipes_;                            // by packed tensor
  std::vector<std::pair<size_t, int32_t>> source_makers_;  // by source record: model, and number there
  std::vector<int32_t> identical_;                         // by source record: the packed tensor that is it
  std::map<Hash128, int32_t> packed_by_key_;
  std::map<std::tuple<std::string, DType, std::vector<int64_t>, Hash128, SourceRecord::Place, std::string, int64_t>,
           int32_t>
      sources_by_key_;
};

}  // namespace

Result<std::shared_ptr<const Image>> build_image(std::vector<ModelToBuild> models, const BuildOptions& options) {
  if (models.empty()) return invalid_argument("no model is given");
  auto image = std::make_shared<BuiltImage>(std::move(models), options);
  TN_RETURN_IF_ERROR(image->build());
  return std::shared_ptr<const Image>(std::move(image));
}

}  // namespace tenon
