# Bucket.
resource "aws_s3_bucket" "logs" {
  bucket = "logs"
  versioning {
    enabled = true
  }
}
variable "region" {}
locals {
  a = 1
}
limit = 1
