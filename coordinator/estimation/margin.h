// Margin: how far a configuration may come below its estimate.
//
// Concept: configurations of a type that were both estimated and measured show
// how far estimates are off. Nineteen of twenty deviations stay within about
// the margin. It is the deviation that four of five stay within, times kTail,
// plus a standard error of the sample. kTail leads from the 80 % to the 95 %
// quantile of a normal distribution. A single outlier moves it by one rank,
// where its size would move a margin made from the worst.
//
//     margin = kTail * (1 + 1 / sqrt(n)) * (deviation of rank ceil(0.8 n))
//
// It is at least kMinMargin, and at least kFirstMargin before kEnoughCompared
// were compared.
// Units: shares of the estimate.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_MARGIN_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_MARGIN_H_

#include <vector>

namespace meshwright::estimation {

inline constexpr double kFirstMargin = 0.08;
inline constexpr double kMinMargin = 0.04;
inline constexpr double kTail = 1.5;
inline constexpr int kEnoughCompared = 3;

// The deviation that four of five stay within; 0 of none.
double FindDeviation(std::vector<double> deviations);

double FindMargin(const std::vector<double>& deviations);

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_MARGIN_H_
