"""Numbers to meet, with the digits they were printed with."""

# Fig. 2 of the paper: df, sum_sq, mean_sq, F, PR(>F), Percentage_Variation_Explained.
FIGURE_2 = {
    "nodes": "1.0 0.000835 0.000835 0.811084 3.685497e-01 0.168076",
    "executors": "1.0 0.002662 0.002662 2.586327 1.088819e-01 0.535950",
    "cores": "1.0 0.000555 0.000555 0.539326 4.633077e-01 0.111761",
    "epochs": "1.0 0.003148 0.003148 3.058204 8.139210e-02 0.633734",
    "lr": "1.0 0.065909 0.065909 64.030983 2.993076e-14 13.268775",
    "epochs:lr": "1.0 0.013646 0.013646 13.257446 3.216297e-04 2.747265",
    "batch": "1.0 0.007529 0.007529 7.314456 7.245951e-03 1.515733",
    "epochs:batch": "1.0 0.023049 0.023049 22.392219 3.483304e-06 4.640212",
    "lr:batch": "1.0 0.055835 0.055835 54.244237 1.858615e-12 11.240724",
    "epochs:lr:batch": "1.0 0.026078 0.026078 25.334631 8.489754e-07 5.249951",
    "Residual": "289.0 0.297477 0.001029 NaN NaN 59.887820",
}

R_SQUARED_PERCENT = "40"
SHAPIRO_W, SHAPIRO_P = "0.4723438620567322", "7.447296649928366e-29"  # Table III
BARTLETT, BARTLETT_P = "12919.024882636862", "0.0"  # Table IV
# Table V.
VIF = {
    "Intercept": "53.00742210464434",
    "nodes": "1.0044642857142865",
    "executors": "1.0044642857142851",
    "cores": "1.0666666666666662",
    "epochs": "9.08568815729309",
    "lr": "18.162962962962965",
    "epochs:lr": "23.67992684042065",
    "batch": "17.56378600823049",
    "epochs:batch": "24.788608008361116",
    "lr:batch": "32.26149323927107",
    "epochs:lr:batch": "33.942282317591015",
}

# Worked out from Table II by other means than this package: sum of squares, F, percent; the residual's F is its df.
WITHOUT_2_AND_3 = {
    "nodes": "0.000833 0.809 0.17",
    "executors": "0.002756 2.677 0.55",
    "cores": "0.000559 0.543 0.11",
    "epochs": "0.003195 3.102 0.64",
    "lr": "0.065996 64.091 13.28",
    "epochs:lr": "0.013516 13.126 2.72",
    "batch": "0.007593 7.373 1.53",
    "epochs:batch": "0.023091 22.425 4.65",
    "lr:batch": "0.055894 54.281 11.25",
    "epochs:lr:batch": "0.025992 25.242 5.23",
    "Residual": "0.297589 289 59.88",
    "R²": "0.4012",
}
ALL_32 = {
    "nodes": "0.001167 0.933 0.13",
    "executors": "0.003032 2.424 0.34",
    "cores": "0.015443 12.345 1.72",
    "epochs": "0.041291 33.009 4.59",
    "lr": "0.153169 122.447 17.02",
    "epochs:lr": "0.055362 44.257 6.15",
    "batch": "0.038786 31.007 4.31",
    "epochs:batch": "0.062357 49.849 6.93",
    "lr:batch": "0.097615 78.036 10.85",
    "epochs:lr:batch": "0.045149 36.093 5.02",
    "Residual": "0.386527 309 42.95",
    "R²": "0.5705",
}
# The logarithm, all two-factor interactions, all 32 settings: percent of the variation.
LOG_SHARES = {
    "lr": "33.5",
    "lr:batch": "13.9",
    "epochs:lr": "7.4",
    "epochs:batch": "6.8",
    "nodes:lr": "6.7",
    "nodes:epochs": "5.0",
    "cores": "4.9",
}
LOG_R_SQUARED, LOG_W, LOG_P = "0.834", "0.973", "1.3e-5"

# Section IV.B, and what the authors' notebook has where the text prints other numbers.
MU_1, MU_4 = "3.085", "3.439"
M_M_1 = {"lambda": "2.468", "E[N]": "4", "E[T]": "1.620"}
M_M_4 = {"lambda": "0.930", "E[T]": "11.005", "E[N]": "5.584"}
M_M_4_NOTEBOOK = {"lambda": "11.006", "p_Q": "0.59643", "E[T]": "0.50752", "E[N]": "5.5857"}
RHO = 0.8

# Section V: the search, and the queue at what it found.
FIRST_RATE, BEST_RATE = 0.002, "9.011"
BEST_TIME_S, BEST_ACCURACY = 29.5, 0.976
BEST_COST, BEST_MU, BEST_LAMBDA, BEST_E_T = "0.003", "333.333", "266.667", "0.015"
