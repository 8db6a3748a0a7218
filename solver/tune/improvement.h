// Expected improvement of a value of which a model knows mean and deviation, and arithmetic a lower bound.
#pragma once

namespace heddle::solver {

/// E[max(target - Y, 0)] for Y normal with this mean and deviation.
double expected_shortfall(double target, double mean, double deviation);

/// E[max(best - max(Y, bound), 0)]: what evaluating is expected to gain when Y can be no less than `bound`. Without a bound pass minus infinity.
double expected_improvement(double best, double mean, double deviation, double bound);

}  // namespace heddle::solver
