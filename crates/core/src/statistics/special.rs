//! The two special functions that the tests and intervals rest on: the logarithm of the gamma function, and Student's
//! t distribution through the incomplete beta function.

/// Lanczos' coefficients for g = 7: good to about 15 digits.
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// The natural logarithm of the gamma function, for x >= 0.5.
pub(super) fn ln_gamma(x: f64) -> f64 {
    let x = x - 1.0;
    let (mut sum, mut index) = (LANCZOS[0], 1.0);
    for coefficient in &LANCZOS[1..] {
        sum += coefficient / (x + index);
        index += 1.0;
    }
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// The natural logarithm of the number of ways to choose k of n.
pub(super) fn ln_choose(n: f64, k: f64) -> f64 {
    ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0)
}

/// The regularised incomplete beta function, for a and b of at least 0.5.
pub(super) fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let ln_front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    // The fraction converges fast on this side of the mean; the other side is its mirror image.
    if x < (a + 1.0) / (a + b + 2.0) {
        ln_front.exp() * beta_fraction(a, b, x) / a
    } else {
        1.0 - ln_front.exp() * beta_fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction of the incomplete beta function, evaluated by Lentz' method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    /// More than enough for any number of cases: convergence takes about the square root of max(a, b).
    const STEPS: u32 = 10_000;
    const TINY: f64 = 1e-300;
    let keep = |value: f64| if value.abs() < TINY { TINY } else { value };
    // Lentz' two ratios of neighbouring numerators and denominators.
    let mut upper = 1.0;
    let mut lower = 1.0 / keep(1.0 - (a + b) * x / (a + 1.0));
    let mut result = lower;
    for step in 1..=STEPS {
        let step = f64::from(step);
        let twice = a + 2.0 * step;
        for numerator in [
            step * (b - step) * x / ((twice - 1.0) * twice),
            -(a + step) * (a + b + step) * x / (twice * (twice + 1.0)),
        ] {
            lower = 1.0 / keep(1.0 + numerator * lower);
            upper = keep(1.0 + numerator / upper);
            result *= lower * upper;
        }
        if (lower * upper - 1.0).abs() < 1e-15 {
            break;
        }
    }
    result
}

/// The probability that Student's t with so many degrees of freedom is at most t.
pub(super) fn student_cdf(t: f64, freedom: f64) -> f64 {
    let tail = 0.5 * incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t));
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The t that Student's t is below with probability p; p in (0.5, 1).
pub(super) fn student_quantile(p: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while student_cdf(high, freedom) < p && high < 1e12 {
        high *= 2.0;
    }
    // Each step halves the interval; it ends when no double lies between the two.
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if student_cdf(middle, freedom) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}
