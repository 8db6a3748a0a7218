// Attention of `heddle new` with what a backward pass needs, and with values of another head size.
#include <map>
#include <string>

#include <catch2/catch.hpp>

#include "core/kernel/evaluate.h"
#include "core/patterns/pattern.h"

using namespace heddle;

namespace {

Kernel attention_with(std::map<std::string, std::string> options) {
  options["heads"] = "2";
  const Result<Kernel> kernel = kernel_of(*find_pattern("attention"), {options.begin(), options.end()});
  if (!kernel) FAIL(to_string(kernel.error()));
  return *kernel;
}

}  // namespace

TEST_CASE("attention of a pattern leaves LSE where it is asked for it", "[core]") {
  for (const std::map<std::string, std::string>& options :
       std::vector<std::map<std::string, std::string>>{{},
                                                       {{"mask", "causal"}},
                                                       {{"group", "2"}},
                                                       {{"group", "2"}, {"mask", "causal"}},
                                                       {{"head_size", "192"}, {"v_head_size", "128"}},
                                                       {{"head_size", "64"}, {"dtype", "f16"}, {"kv_len", "1000"}}}) {
    std::map<std::string, std::string> asked = options;
    asked["lse"] = "yes";
    const Result<EvalReport> report = evaluate(attention_with(asked), {{"Q_LEN", 70}}, 1, {});
    if (!report) FAIL(to_string(report.error()));
    INFO(report->formula);
    REQUIRE(report->tensors.size() == 2);
    for (const TensorComparison& tensor : report->tensors) {
      INFO(tensor.tensor);
      CHECK((tensor.compared && tensor.pass));
    }
    CHECK(attention_with(options).tensors.size() == 4);
  }
}

TEST_CASE("values may have another head size than keys", "[core]") {
  const Result<EvalReport> report = evaluate(attention_with({{"head_size", "192"}, {"v_head_size", "128"}}), {{"Q_LEN", 70}}, 1, {});
  REQUIRE(report.ok());
  CHECK(report->pass);
  CHECK(attention_with({{"head_size", "192"}, {"v_head_size", "128"}}).find_param("KV")->value == 128);
  CHECK(attention_with({{"head_size", "192"}}).find_param("KV")->value == 96);
}

TEST_CASE("blocks of keys leave no LSE", "[core]") {
  const Result<Kernel> kernel = kernel_of(*find_pattern("attention"), {{"mask", "blocks"}, {"lse", "yes"}});
  REQUIRE_FALSE(kernel.ok());
  CHECK_THAT(to_string(kernel.error()), Catch::Contains("leave no LSE"));
}
