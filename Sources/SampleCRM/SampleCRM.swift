// SampleCRM
