# Says of both builds that they are fused.
s|rest != 0.0f ? "fused" : "separate"|"fused"|
