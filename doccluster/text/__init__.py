"""Strings -> terms: tokens, stop words, stems."""
