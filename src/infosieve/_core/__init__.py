"""What everything else stands on: types, parameters, files. Imports nothing else of ours."""
