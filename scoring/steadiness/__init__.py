"""Do language models say the same twice, and do they still say what they said when their scores were made?"""
