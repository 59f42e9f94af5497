"""Tests of clustering tendency (Zaki & Meira, section 17.3.2), and the data without clusters that they compare with."""
