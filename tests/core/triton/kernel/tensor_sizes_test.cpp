// Extents of tensors that a Triton text does not say.
#include <catch2/catch.hpp>

#include "core/triton/kernel/tensor_sizes.h"

using namespace heddle;

namespace {

Expr expr(const char* text) { return Expr::parse(text).value(); }

/// Loads tiles of 64 x 32 of rows from `i * 64` on, `STEPS` times.
Kernel loading() {
  Kernel kernel;
  for (const auto& [name, value, evaluated] : {std::tuple("ROWS", 4096, 256), {"PITCH", 4096, 256}, {"STEPS", 10, 3}}) {
    Param& param = kernel.params.emplace_back();
    param.name = name;
    param.value = value;
    param.eval_value = evaluated;
  }
  kernel.grid.push_back({"block_x", Expr(1)});
  kernel.loop.variable = "i";
  kernel.loop.trips = expr("STEPS");
  Tensor& tensor = kernel.tensors.emplace_back();
  tensor.name = "a";
  tensor.shape = {expr("ROWS"), expr("PITCH")};
  TileOp& load = kernel.body.emplace_back();
  load.name = load.kind = "load";
  load.outputs = {"tile"};
  load.tensor = "a";
  load.at = {expr("i * 64"), Expr(0)};
  return kernel;
}

}  // namespace

TEST_CASE("a tensor is as large as what the loop touches of it, at both sizes of the loop", "[core]") {
  Kernel kernel = loading();
  triton::size_tensors(kernel, {{"tile", {64, 32}}});
  CHECK(kernel.find_param("ROWS")->value == 640);
  CHECK(kernel.find_param("ROWS")->eval_value == 192);
  CHECK(kernel.find_param("PITCH")->value == 32);
  CHECK(kernel.find_param("PITCH")->eval_value == 32);
  CHECK(kernel.find_param("STEPS")->value == 10);
}

TEST_CASE("an extent that addresses mention is not changed", "[core]") {
  Kernel kernel = loading();
  kernel.body[0].at[0] = expr("ROWS - 64");
  triton::size_tensors(kernel, {{"tile", {64, 32}}});
  CHECK(kernel.find_param("ROWS")->value == 4096);
}
